--- Files of the workspace that are open in the editor are shown to the server, so that it sees unsaved text.
---
--- A query document or a configuration file starts the server by itself, for completion, hover and the like.

local config = require('jp.config')

local M = {}

local CONFIGURATION = { toml = true, yaml = true, yml = true, json = true, json5 = true }

--- Whether a buffer is a file below a folder.
---@param buffer integer
---@param root string
---@return boolean
function M.belongs(buffer, root)
  if not vim.api.nvim_buf_is_loaded(buffer) or vim.bo[buffer].buftype ~= '' then
    return false
  end
  local name = vim.api.nvim_buf_get_name(buffer)
  return name ~= '' and not name:match('^%a[%w+.-]*://') and vim.fs.relpath(root, vim.fs.normalize(name)) ~= nil
end

--- Whether a file is one that the server helps to write: a query document, or a configuration file.
---@param path string
---@return boolean
function M.is_ours(path)
  path = vim.fs.normalize(path)
  if path:match('%.jp%.md$') then
    return true
  end
  local inside = path:match('/%.jp/(.*)$')
  return inside ~= nil
    and not vim.startswith(inside, 'conversations/')
    and CONFIGURATION[inside:match('%.(%w+)$')] == true
end

--- A file that the server helps to write was opened.
---@param buffer integer
function M.open(buffer)
  if vim.bo[buffer].buftype == '' and M.is_ours(vim.api.nvim_buf_get_name(buffer)) then
    local clients = require('jp.client')
    clients.of(clients.root_of(buffer)):start_for_file()
  end
end

--- Attach the client to the files of its workspace, those that are open and those to come.
---@param client jp.Client
function M.follow(client)
  local group = vim.api.nvim_create_augroup('jp.documents.' .. client.root, {})
  ---@param buffer integer
  local function attach(buffer)
    local is_wanted = config.options.attach or M.is_ours(vim.api.nvim_buf_get_name(buffer))
    if client.lsp and is_wanted and M.belongs(buffer, client.root) then
      vim.lsp.buf_attach_client(buffer, client.lsp.id)
    end
  end
  vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile', 'BufFilePost', 'BufEnter' }, {
    group = group,
    callback = function(event)
      attach(event.buf)
    end,
  })
  vim.tbl_map(attach, vim.api.nvim_list_bufs())
end

return M
