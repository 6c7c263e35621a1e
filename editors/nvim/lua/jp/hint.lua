--- Announces an open question in a corner of the window where the user is, unless the question stands there
--- itself. The announcement cannot be entered and takes no key.

local config = require('jp.config')
local wrap = require('jp.wrap')

local M = {}

local WIDEST, TALLEST = 40, 4

---@class jp.Hint
---@field window integer
---@field buffer integer

---@type jp.Hint?
local shown

local function hide()
  if shown and vim.api.nvim_win_is_valid(shown.window) then
    vim.api.nvim_win_close(shown.window, true)
  end
  shown = nil
end

---@param message string
local function show(message)
  hide()
  local room = math.min(math.max(vim.api.nvim_win_get_width(0) - 4, 10), WIDEST)
  local lines = vim.list_slice(wrap.lines(message, room), 1, TALLEST)
  table.insert(lines, ':Jp answer')
  local width = 0
  for _, line in ipairs(lines) do
    width = math.max(width, vim.fn.strdisplaywidth(line))
  end
  width = math.min(width, room)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = 'wipe'
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, lines)
  local window = vim.api.nvim_open_win(buffer, false, {
    relative = 'win',
    anchor = 'NE',
    row = 0,
    col = vim.api.nvim_win_get_width(0),
    width = width,
    height = #lines,
    style = 'minimal',
    border = 'rounded',
    title = ' JP needs you ',
    focusable = false,
    noautocmd = true,
    zindex = 60,
  })
  vim.wo[window].winhighlight = 'NormalFloat:JpHint,FloatBorder:JpQuestion,FloatTitle:JpQuestion'
  shown = { window = window, buffer = buffer }
end

--- Show the first open question of any client, or nothing.
function M.update()
  local chats = require('jp.chat.buffer')
  local approval = require('jp.approval')
  local here = chats.here()
  for _, client in ipairs(require('jp.client').all()) do
    local question = client.questions[1]
    local is_before_eyes = question
      and (
        question.buffer == vim.api.nvim_get_current_buf()
        or here and here.client == client and vim.tbl_contains(approval.of_chat(here), question)
      )
    if question and config.options.hint and not is_before_eyes then
      show(question.params.message)
      return
    end
  end
  hide()
end

vim.api.nvim_create_autocmd({ 'BufEnter', 'WinEnter', 'VimResized', 'TabEnter' }, {
  group = vim.api.nvim_create_augroup('jp.hint', {}),
  callback = vim.schedule_wrap(M.update),
})

return M
