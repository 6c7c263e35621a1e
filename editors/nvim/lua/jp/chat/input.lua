--- The buffer where a query is written. It is an ordinary buffer: undo, completion and registers work.

local M = {}

---@param name string
---@return integer
function M.make(name)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buffer, name)
  vim.bo[buffer].bufhidden = 'hide'
  vim.api.nvim_buf_call(buffer, function()
    vim.bo[buffer].filetype = 'jpinput'
  end)
  return buffer
end

---@param buffer integer
---@return string
function M.text(buffer)
  return vim.trim(table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, true), '\n'))
end

--- What is written, which leaves the buffer; `u` brings it back.
---@param buffer integer
---@return string
function M.take(buffer)
  local text = M.text(buffer)
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, {})
  return text
end

--- Put a text before what is written.
---@param buffer integer
---@param text string
function M.put_before(buffer, text)
  if not vim.api.nvim_buf_is_valid(buffer) then
    return
  end
  local lines = vim.split(text, '\n', { plain = true })
  if M.text(buffer) ~= '' then
    table.insert(lines, '')
    vim.api.nvim_buf_set_lines(buffer, 0, 0, true, lines)
  else
    vim.api.nvim_buf_set_lines(buffer, 0, -1, true, lines)
  end
end

return M
