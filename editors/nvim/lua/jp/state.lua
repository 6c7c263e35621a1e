--- What is shown of a query, folded from its chunks.
---
--- The rules are those of the protocol page, "Chunks"; `tests/golden/wire` holds transcripts and the states that
--- the clients in Python, TypeScript and Lua must fold them to. Nothing here knows the editor.

local M = {}

---@class jp.Item
---@field type string what it is: `role`, `text`, `structured`, `tool_call`, `tool_result`, `notice`
---@field facts table<string, any> what the chunk says beside its text
---@field pieces { seq: integer, md: string }[] the chunks that it is made of

---@class jp.Turn
---@field facts table<string, any>
---@field items jp.Item[]

---@class jp.State
---@field conversation string?
---@field last_seq integer
---@field missed boolean whether a chunk was lost
---@field turns jp.Turn[]
---@field slots table<string, table<string, any>> what ephemeral chunks show, by slot
---@field prompts table<string, any>[] open questions, oldest first

local ENVELOPE = {
  v = true,
  seq = true,
  turn = true,
  conversation = true,
  cycle = true,
  class = true,
  slot = true,
  md = true,
}

---@return jp.State
function M.new()
  return { conversation = nil, last_seq = 0, missed = false, turns = {}, slots = {}, prompts = {} }
end

--- What a chunk says beside the envelope.
---@param chunk table<string, any>
---@param with_type boolean?
---@return table<string, any>
local function facts_of(chunk, with_type)
  local facts = {}
  for key, value in pairs(chunk) do
    if not ENVELOPE[key] and (with_type or key ~= 'type') then
      facts[key] = value
    end
  end
  if chunk.slot then
    facts.md = chunk.md
  end
  return facts
end

--- Whether a chunk goes on with an item.
---@param item jp.Item?
---@param chunk table<string, any>
---@return boolean
local function goes_on(item, chunk)
  if not item then
    return false
  end
  if chunk.type == 'text' or chunk.type == 'code' then
    return item.type == 'text' and item.facts.region == chunk.region
  end
  return chunk.type == 'structured' and chunk.part ~= 'open' and item.type == 'structured'
end

---@param chunk table<string, any>
---@return jp.Item
local function new_item(chunk)
  local type, facts = chunk.type, {}
  if type == 'text' or type == 'code' then
    type, facts = 'text', { region = chunk.region }
  elseif type ~= 'structured' then
    facts = facts_of(chunk)
  end
  return { type = type, facts = facts, pieces = {} }
end

---@param state jp.State
---@param chunk table<string, any>
local function append(state, chunk)
  if #state.turns == 0 then
    table.insert(state.turns, { facts = {}, items = {} })
  end
  local items = state.turns[#state.turns].items
  if not goes_on(items[#items], chunk) then
    table.insert(items, new_item(chunk))
  end
  table.insert(items[#items].pieces, { seq = chunk.seq, md = chunk.md })
end

--- Take back the durable chunks from a number on.
---@param state jp.State
---@param first integer
local function retract(state, first)
  for _, turn in ipairs(state.turns) do
    for position = #turn.items, 1, -1 do
      local pieces = turn.items[position].pieces
      while #pieces > 0 and pieces[#pieces].seq >= first do
        table.remove(pieces)
      end
      if #pieces == 0 then
        table.remove(turn.items, position)
      end
    end
  end
end

local control = {}

function control.turn_begin(state, chunk)
  table.insert(state.turns, { facts = facts_of(chunk), items = {} })
end

function control.turn_end(state, chunk)
  local turn = state.turns[#state.turns]
  for key, value in pairs(turn and facts_of(chunk) or {}) do
    turn.facts[key] = value
  end
  state.slots = {}
end

function control.retract(state, chunk)
  retract(state, chunk.fromSeq)
end

function control.prompt_open(state, chunk)
  table.insert(state.prompts, facts_of(chunk))
end

function control.prompt_closed(state, chunk)
  for position = #state.prompts, 1, -1 do
    if state.prompts[position].decisionId == chunk.decisionId then
      table.remove(state.prompts, position)
    end
  end
end

--- Fold one chunk. One that came before is ignored; a gap is remembered, and the fold goes on.
---@param state jp.State
---@param chunk table<string, any>
---@return boolean # whether anything changed
function M.take(state, chunk)
  if chunk.seq <= state.last_seq then
    return false
  end
  state.missed = state.missed or chunk.seq ~= state.last_seq + 1
  state.last_seq = chunk.seq
  state.conversation = chunk.conversation or state.conversation
  if chunk.class == 'durable' then
    append(state, chunk)
  elseif chunk.class == 'ephemeral' then
    state.slots[chunk.slot] = not chunk.clear and facts_of(chunk, true) or nil
  elseif control[chunk.type] then
    control[chunk.type](state, chunk)
  end
  return true
end

---@param item jp.Item
---@return string
function M.text_of(item)
  local texts = {}
  for position, piece in ipairs(item.pieces) do
    texts[position] = piece.md
  end
  return table.concat(texts)
end

--- The whole transcript in Markdown.
---@param state jp.State
---@return string
function M.transcript(state)
  local texts = {}
  for _, turn in ipairs(state.turns) do
    for _, item in ipairs(turn.items) do
      table.insert(texts, M.text_of(item))
    end
  end
  return table.concat(texts)
end

return M
