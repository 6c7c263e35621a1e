--- Lines of a certain width, for what Neovim does not wrap by itself.

local M = {}

--- Break a text between words; a word that is wider than a line stays whole.
---@param text string
---@param width integer in cells
---@return string[]
function M.lines(text, width)
  local lines = {}
  for paragraph in vim.gsplit(text, '\n', { plain = true }) do
    local line = ''
    for word in paragraph:gmatch('%S+') do
      local longer = line == '' and word or line .. ' ' .. word
      if line ~= '' and vim.fn.strdisplaywidth(longer) > width then
        table.insert(lines, line)
        longer = word
      end
      line = longer
    end
    table.insert(lines, line)
  end
  return lines
end

return M
