--- What goes along with a query: lines of a buffer, files, addresses.

local M = {}

---@class jp.Selection
---@field label string for people: `lua/a.lua:3-9`
---@field text string Markdown for the model

--- A run of backticks that is longer than any in a text.
---@param text string
---@return string
local function fence_for(text)
  local longest = 2
  for run in text:gmatch('`+') do
    longest = math.max(longest, #run)
  end
  return ('`'):rep(longest + 1)
end

--- Lines of a buffer as a fenced block with their place above it.
---@param buffer integer
---@param first integer counted from 1
---@param last integer
---@param root string
---@return jp.Selection
function M.lines(buffer, first, last, root)
  local name = vim.api.nvim_buf_get_name(buffer)
  local path = name == '' and 'unnamed buffer' or vim.fs.relpath(root, vim.fs.normalize(name)) or name
  local text = table.concat(vim.api.nvim_buf_get_lines(buffer, first - 1, last, false), '\n')
  local fence = fence_for(text)
  local lines = first == last and ('line %d'):format(first) or ('lines %d to %d'):format(first, last)
  return {
    label = ('%s:%d-%d'):format(path, first, last),
    text = ('`%s`, %s:\n\n%s%s\n%s\n%s'):format(path, lines, fence, vim.bo[buffer].filetype, text, fence),
  }
end

--- An attachment as the server wants it: an address as it is, a path as that of a file.
---@param word string an address, a path, `%` or a path that Neovim expands
---@param root string
---@return string? attachment
---@return string? problem
function M.attachment(word, root)
  if word:match('^%a[%w+.-]*:') or word:match('^!') or word:match('^jp%-c%d+$') then
    return word
  end
  local path = vim.fn.expand(word)
  if path == '' then
    return nil, ('%q names no file'):format(word)
  end
  path = vim.fs.normalize(vim.fs.abspath(path))
  if not vim.uv.fs_stat(path) then
    return nil, ('there is no file %s'):format(path)
  end
  return vim.fs.relpath(root, path) or vim.uri_from_fname(path)
end

return M
