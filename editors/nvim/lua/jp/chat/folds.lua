--- Folds of a chat: reasoning, and tool calls with their results once nobody is asked about them.

local approval = require('jp.approval')

local M = {}

---@class jp.Fold
---@field first integer its first row, from 0
---@field last integer
---@field text [string, string][] what stands for it while it is closed

--- The arguments of a call in few words.
---@param arguments string
---@return string
local function in_short(arguments)
  local ok, decoded = pcall(vim.json.decode, arguments, { luanil = { object = true } })
  if not ok or type(decoded) ~= 'table' then
    return arguments
  end
  local words = {}
  for key, value in vim.spairs(decoded) do
    local shown = type(value) == 'string' and value or vim.json.encode(value)
    table.insert(words, ('%s: %s'):format(key, (shown:gsub('%s+', ' '))))
  end
  return table.concat(words, ', ')
end

---@param count integer
---@param noun string
---@return string
local function counted(count, noun)
  return ('%d %s%s'):format(count, noun, count == 1 and '' or 's')
end

---@type table<string, fun(drawn: jp.DrawnItem): [string, string][]?>
local texts = {}

function texts.text(drawn)
  if drawn.item.facts.region == 'reasoning' then
    return { { '▸ thought, ' .. counted(drawn.last - drawn.first + 1, 'line'), 'JpFold' } }
  end
end

function texts.tool_call(drawn)
  local facts = drawn.item.facts
  drawn.in_short = drawn.in_short or in_short(facts.arguments or '')
  return { { '▸ ', 'JpFold' }, { facts.name .. ' ', 'JpTool' }, { drawn.in_short, 'JpFold' } }
end

function texts.tool_result(drawn)
  local facts = drawn.item.facts
  local mark = facts.decision and facts.decision:match('^skip') and { '– ', 'JpSkipped' }
    or facts.ok and { '✓ ', 'JpOk' }
    or { '✗ ', 'JpFailed' }
  return {
    { '▸ ', 'JpFold' },
    mark,
    { ('result of %s, %s'):format(facts.name, counted(facts.lines or 0, 'line')), 'JpFold' },
  }
end

--- Whether a call is one that the user should see whole.
---@param chat jp.Chat
---@param item jp.Item
---@return boolean
local function is_asked_about(chat, item)
  return item.type == 'tool_call' and #approval.about(chat, item.facts.callId) > 0
end

--- The folds of a chat, by their first row.
---@param chat jp.Chat
---@return table<integer, jp.Fold>
function M.of(chat)
  local folds = {}
  for _, section in ipairs(chat.sections) do
    local items = section.drawn and section.drawn.items or {}
    for position, drawn in ipairs(items) do
      local text = texts[drawn.item.type] and texts[drawn.item.type](drawn)
      local follower = items[position + 1]
      if text and not is_asked_about(chat, drawn.item) then
        folds[drawn.first] = { first = drawn.first, last = M.last_row(drawn, follower), text = text }
      end
    end
  end
  return folds
end

--- The line that divides reasoning from what follows it goes with the reasoning.
---@param drawn jp.DrawnItem
---@param follower jp.DrawnItem?
---@return integer
function M.last_row(drawn, follower)
  local divides = follower ~= nil
    and drawn.item.facts.region == 'reasoning'
    and follower.item.type == 'text'
    and follower.item.pieces[1].md:match('^\n*%-%-%-\n') ~= nil
  return divides and follower and follower.first or drawn.last
end

--- Find the folds anew. Neovim asks about the lines that are written; others it must be told of.
---@param chat jp.Chat
---@param row integer the row from which on lines are written
---@return boolean # whether a line before that has changed its level
function M.update(chat, row)
  local before, levels = chat.fold_levels, {}
  chat.folds = M.of(chat)
  for _, fold in pairs(chat.folds) do
    for each = fold.first, fold.last do
      levels[each + 1] = each == fold.first and '>1' or '1'
    end
  end
  chat.fold_levels = levels
  for line = 1, row do
    if before[line] ~= levels[line] then
      return true
    end
  end
  return false
end

--- Let Neovim look at all lines again.
---@param chat jp.Chat
function M.refresh(chat)
  for _, window in ipairs(vim.fn.win_findbuf(chat.buffer)) do
    local expression = vim.wo[window][0].foldexpr
    vim.wo[window][0].foldexpr = expression
  end
end

--- For 'foldexpr'.
---@return string
function M.expr()
  local chat = require('jp.chat.buffer').of(vim.api.nvim_get_current_buf())
  return chat and chat.fold_levels[vim.v.lnum] or '0'
end

--- For 'foldtext'.
---@return [string, string][]|string
function M.text()
  local chat = require('jp.chat.buffer').of(vim.api.nvim_get_current_buf())
  local fold = chat and chat.folds[vim.v.foldstart - 1]
  return fold and fold.text or vim.fn.foldtext()
end

return M
