--- Files of the workspace that are open in the editor are shown to the server, so that it sees unsaved text.

local config = require('jp.config')

local M = {}

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

--- Attach the client to the files of its workspace, those that are open and those to come.
---@param client jp.Client
function M.follow(client)
  local group = vim.api.nvim_create_augroup('jp.documents.' .. client.root, {})
  if not config.options.attach then
    return
  end
  ---@param buffer integer
  local function attach(buffer)
    if client.lsp and M.belongs(buffer, client.root) then
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
