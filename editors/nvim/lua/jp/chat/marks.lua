--- What lies on top of a chat's text: speakers, status, usage, questions. None of it is in the text itself, so
--- yanking and searching find the conversation and nothing else.

local approval = require('jp.approval')
local render = require('jp.chat.render')
local state = require('jp.state')
local status = require('jp.status')
local wrap = require('jp.wrap')

local M = {}

local lasting = vim.api.nvim_create_namespace('jp.chat.lasting')
local passing = vim.api.nvim_create_namespace('jp.chat.passing')

---@alias jp.VirtualLine [string, string|string[]][]

local RULE = ('─'):rep(300)

---@param buffer integer
---@param row integer
---@param mark vim.api.keyset.set_extmark
local function put(buffer, row, mark)
  vim.api.nvim_buf_set_extmark(buffer, lasting, row, 0, mark)
end

--- The colour that the user's settings want behind reasoning, as a highlight group.
---@param colour any
---@return string
local function reasoning_group(colour)
  local hex = type(colour) == 'string' and colour:match('^"?#?(%x%x%x%x%x%x)"?$')
  if not hex then
    return 'JpReasoning'
  end
  local group = 'JpReasoning' .. hex
  vim.api.nvim_set_hl(0, group, { bg = '#' .. hex, default = true })
  return group
end

--- Each decorates the rows of an item from a row on.
---@type table<string, fun(buffer: integer, drawn: jp.DrawnItem, from: integer, turn: jp.Turn)>
local decorations = {}

function decorations.role(buffer, drawn, from)
  if from > drawn.first then
    return
  end
  local facts = drawn.item.facts
  local label = { { facts.label .. ' ', facts.role == 'user' and 'JpUser' or 'JpAssistant' } }
  local details = {}
  table.insert(details, facts.model)
  table.insert(details, facts.detail)
  if #details > 0 then
    table.insert(label, { table.concat(details, ' · ') .. ' ', 'JpDetail' })
  end
  table.insert(label, { RULE, 'JpRule' })
  put(buffer, drawn.first, { virt_text = label, virt_text_pos = 'overlay', hl_mode = 'replace' })
end

function decorations.text(buffer, drawn, from, turn)
  if drawn.item.facts.region == 'reasoning' then
    local group = reasoning_group(turn.facts.reasoningBackground)
    for row = from, drawn.last do
      put(buffer, row, { line_hl_group = group })
    end
  end
end

---@param group string
---@return fun(buffer: integer, drawn: jp.DrawnItem, from: integer)
local function first_line_in(group)
  return function(buffer, drawn, from)
    if from <= drawn.first then
      put(buffer, drawn.first, { line_hl_group = group })
    end
  end
end

decorations.tool_call = first_line_in('JpToolLine')
decorations.tool_result = first_line_in('JpToolLine')
decorations.notice = first_line_in('JpNotice')

---@param buffer integer
---@param section jp.Section
local function decorate(buffer, section)
  for _, drawn in ipairs(section.drawn and section.drawn.items or {}) do
    local from = drawn.decorated and drawn.decorated + 1 or drawn.first
    local put_marks = decorations[drawn.item.type]
    if put_marks and from <= drawn.last then
      put_marks(buffer, drawn, from, section.state.turns[drawn.turn])
    end
    drawn.decorated = drawn.last
  end
end

--- What is known about a turn that is over: how it ended, and what it took.
---@param section jp.Section
---@param index integer
---@return jp.VirtualLine?
local function ending(section, index)
  local facts = section.state.turns[index].facts
  if not facts.outcome or (section.is_replay and facts.outcome == 'completed' and not facts.usage) then
    return nil
  end
  local words = {}
  table.insert(words, status.usage(facts.usage))
  local is_last = index == #section.state.turns
  table.insert(words, is_last and status.duration(section.started_at, section.ended_at) or nil)
  if facts.persisted == false and facts.outcome ~= 'aborted' then
    table.insert(words, 'not stored')
  end
  local is_well = facts.outcome == 'completed'
  local mark = is_well and { '✓ ', 'JpOk' } or { status.outcome(facts.outcome) .. ' ', 'JpOutcome' }
  return { mark, { (not is_well and #words > 0 and '· ' or '') .. table.concat(words, ' · '), 'JpUsage' } }
end

--- What went wrong or is worth knowing, as far as the transcript does not say it.
---@param section jp.Section
---@param width integer
---@return jp.VirtualLine[]
local function troubles(section, width)
  local result, problem = section.result, section.problem
  if not result and not problem then
    return {}
  end
  local lines, told = {}, state.transcript(section.state)
  ---@param mark string
  ---@param text string?
  ---@param group string
  local function tell(mark, text, group)
    if text and not told:find(text, 1, true) then
      for position, line in ipairs(wrap.lines(text, width - 2)) do
        table.insert(lines, { { (position == 1 and mark or ' ') .. ' ' .. line, group } })
      end
    end
  end
  tell('✗', problem and problem.message, 'JpFailed')
  if problem and problem.origin and not problem.message:find(problem.origin, 1, true) then
    tell(' ', 'look at ' .. problem.origin, 'JpDetail')
  end
  tell('✗', result and result.error and result.error.message, 'JpFailed')
  for _, notice in ipairs(result and result.notices or {}) do
    tell('!', notice.text, 'JpNotice')
  end
  return lines
end

--- The row to put lines at that are to be seen below a row. Lines below one that is concealed or folded would
--- not be seen, so an empty line that follows is taken, or else the last one that is no fence.
---@param buffer integer
---@param row integer
---@return integer
local function anchor(buffer, row)
  local lines = vim.api.nvim_buf_get_lines(buffer, row, row + 2, false)
  if lines[2] == '' then
    return row + 1
  end
  return row > 0 and lines[1]:match('^%s*```') and row - 1 or row
end

--- Put everything where it belongs now.
---@param chat jp.Chat
function M.update(chat)
  local buffer = chat.buffer
  ---@type table<integer, jp.VirtualLine[]>
  local by_row = {}
  ---@param row integer? none for the end of the text
  ---@param lines jp.VirtualLine[]
  local function below(row, lines)
    row = row and anchor(buffer, row) or vim.api.nvim_buf_line_count(buffer) - 1
    by_row[row] = vim.list_extend(by_row[row] or {}, lines)
  end
  for _, section in ipairs(chat.sections) do
    decorate(buffer, section)
    local turn_ends = section.drawn and section.drawn.turn_ends or {}
    for index in ipairs(section.state.turns) do
      below(turn_ends[index], { ending(section, index) })
    end
    below(turn_ends[#section.state.turns], troubles(section, chat:width()))
  end
  for _, question in ipairs(approval.of_chat(chat)) do
    local call = render.call(chat.sections, question.params.callId)
    below(call and call.last, approval.lines(question, chat:width()))
  end
  below(nil, status.live_lines(chat))
  vim.api.nvim_buf_clear_namespace(buffer, passing, 0, -1)
  for row, lines in pairs(by_row) do
    if row < vim.api.nvim_buf_line_count(buffer) - 1 then
      table.insert(lines, { { '', 'Normal' } })
    end
    vim.api.nvim_buf_set_extmark(buffer, passing, row, 0, { virt_lines = lines })
  end
end

return M
