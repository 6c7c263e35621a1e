--- Writes a chat's transcript into its buffer: only what is new, as long as nothing was taken back.
---
--- A chat consists of sections: what was replayed, then one for each query. The text of a section is what its
--- state folds to, to the letter; everything else that is seen (`jp.chat.marks`, `jp.chat.folds`) lies on top.
--- An empty line always stands behind the text, for what is shown below it. Rows are counted from 0, as the API
--- does.

local state = require('jp.state')

local M = {}

---@class jp.DrawnItem
---@field item jp.Item
---@field turn integer
---@field first integer its first row with text
---@field last integer
---@field decorated integer? the last row that has its marks
---@field in_short string? cached by `jp.chat.folds`

---@class jp.Drawn what of a section is in the buffer
---@field first integer its first row
---@field turn integer the turn, item and piece that were written last
---@field item integer
---@field piece integer
---@field items jp.DrawnItem[]
---@field turn_ends table<integer, integer> the last row of each turn

---@class jp.Section
---@field state jp.State
---@field is_stale boolean whether chunks were taken back since it was drawn
---@field drawn jp.Drawn?
---@field token string?
---@field started_at integer?
---@field ended_at integer?
---@field result jp.QueryResult?
---@field problem jp.Problem?
---@field is_replay boolean

---@param is_replay boolean
---@return jp.Section
function M.section(is_replay)
  return { state = state.new(), is_stale = false, is_replay = is_replay }
end

--- Fold a chunk into a section.
---@param section jp.Section
---@param chunk jp.Chunk
function M.take(section, chunk)
  state.take(section.state, chunk)
  section.is_stale = section.is_stale or chunk.type == 'retract'
end

--- Where the text ends, before the empty line.
---@param buffer integer
---@return integer? row none in a chat without text
---@return integer column
local function end_of(buffer)
  local row = vim.api.nvim_buf_line_count(buffer) - 2
  if row < 0 then
    return nil, 0
  end
  return row, #vim.api.nvim_buf_get_lines(buffer, row, row + 1, true)[1]
end

---@param section jp.Section
---@return boolean
local function has_news(section)
  local drawn, turns = section.drawn, section.state.turns
  if not drawn then
    return vim.iter(turns):any(function(turn)
      return #turn.items > 0
    end)
  end
  local turn = turns[drawn.turn]
  local item = turn and turn.items[drawn.item]
  return section.is_stale
    or #turns > drawn.turn
    or (turn ~= nil and #turn.items > drawn.item)
    or (item ~= nil and #item.pieces > drawn.piece)
end

--- The pieces of a section that were not written yet, oldest first, with the cursor moved behind them.
---@param section jp.Section
---@return { turn: integer, item: jp.Item, md: string, is_first: boolean }[]
local function new_pieces(section)
  local drawn, pieces = assert(section.drawn), {}
  for turn = math.max(drawn.turn, 1), #section.state.turns do
    local items = section.state.turns[turn].items
    for item = turn == drawn.turn and math.max(drawn.item, 1) or 1, #items do
      local seen = turn == drawn.turn and item == drawn.item and drawn.piece or 0
      for piece = seen + 1, #items[item].pieces do
        table.insert(
          pieces,
          { turn = turn, item = items[item], md = items[item].pieces[piece].md, is_first = piece == 1 }
        )
      end
    end
  end
  drawn.turn = #section.state.turns
  local last = section.state.turns[drawn.turn]
  drawn.item = last and #last.items or 0
  drawn.piece = drawn.item > 0 and #last.items[drawn.item].pieces or 0
  return pieces
end

--- Write what is new in a section at the end of the buffer.
---@param buffer integer
---@param section jp.Section
---@param before fun(row: integer) called when it is known what will stand where, and nothing is written
local function append(buffer, section, before)
  local row, column = end_of(buffer)
  local drawn = section.drawn
  local texts = {}
  if not drawn then
    drawn = { first = row and row + 2 or 0, turn = 0, item = 0, piece = 0, items = {}, turn_ends = {} }
    section.drawn = drawn
    texts[1] = row and '\n\n' or nil
  end
  local at = (row or 0) + (texts[1] and 2 or 0)
  for _, piece in ipairs(new_pieces(section)) do
    local ahead = #piece.md:match('^\n*')
    local lines = select(2, piece.md:gsub('\n', ''))
    if piece.is_first then
      table.insert(drawn.items, { item = piece.item, turn = piece.turn, first = at + ahead, last = at + lines })
    end
    at = at + lines
    drawn.items[#drawn.items].last = at
    drawn.turn_ends[piece.turn] = at
    table.insert(texts, piece.md)
  end
  if not row then
    row = 0
    table.insert(texts, '\n')
  end
  before(row)
  vim.api.nvim_buf_set_text(buffer, row, column, row, column, vim.split(table.concat(texts), '\n', { plain = true }))
end

--- Take the sections from a position on out of the buffer, with the gap before the first of them.
---@param buffer integer
---@param sections jp.Section[]
---@param from integer
local function erase(buffer, sections, from)
  local is_erased = false
  for position = from, #sections do
    local drawn = sections[position].drawn
    if drawn and not is_erased then
      local first = math.max(drawn.first - 1, 0)
      vim.api.nvim_buf_clear_namespace(buffer, -1, first, -1)
      vim.api.nvim_buf_set_lines(buffer, first, -1, true, { '' })
      is_erased = true
    end
    sections[position].drawn, sections[position].is_stale = nil, false
  end
end

--- Bring the buffer up to date. What was taken back, or came late, is written anew with all that follows it.
---@param buffer integer
---@param sections jp.Section[]
---@param before fun(row: integer) see `append`
---@return boolean # whether text was taken out
function M.draw(buffer, sections, before)
  local from = 1
  while from <= #sections and not has_news(sections[from]) do
    from = from + 1
  end
  if from > #sections then
    return false
  end
  vim.bo[buffer].modifiable = true
  local is_anew = sections[from].is_stale or from < #sections
  if is_anew then
    erase(buffer, sections, from)
  end
  for position = from, #sections do
    if has_news(sections[position]) then
      append(buffer, sections[position], before)
    end
  end
  vim.bo[buffer].modifiable = false
  vim.bo[buffer].modified = false
  return is_anew
end

--- The item that a row belongs to.
---@param sections jp.Section[]
---@param row integer
---@return jp.DrawnItem?, jp.Section?
function M.item_at(sections, row)
  for _, section in ipairs(sections) do
    for _, drawn in ipairs(section.drawn and section.drawn.items or {}) do
      if drawn.first <= row and row <= drawn.last then
        return drawn, section
      end
    end
  end
end

--- The call with an id, where it is drawn.
---@param sections jp.Section[]
---@param call_id string?
---@return jp.DrawnItem?
function M.call(sections, call_id)
  for position = #sections, 1, -1 do
    for _, drawn in ipairs(sections[position].drawn and sections[position].drawn.items or {}) do
      if drawn.item.type == 'tool_call' and drawn.item.facts.callId == call_id then
        return drawn
      end
    end
  end
end

return M
