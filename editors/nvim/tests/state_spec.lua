--- The reducer folds the golden transcripts to the golden states.

local check = require('tests.check')
local state = require('jp.state')

--- The state as the golden files write it.
local function as_json(s)
  local turns = {}
  for index, turn in ipairs(s.turns) do
    local items = {}
    for position, item in ipairs(turn.items) do
      items[position] = vim.tbl_extend('error', { type = item.type, md = state.text_of(item) }, item.facts)
    end
    turns[index] = vim.tbl_extend('error', { items = items }, turn.facts)
  end
  return {
    conversation = s.conversation,
    lastSeq = s.last_seq,
    missed = s.missed,
    turns = turns,
    slots = s.slots,
    prompts = s.prompts,
    transcript = state.transcript(s),
  }
end

local function read(path)
  return vim.json.decode(table.concat(vim.fn.readfile(path), '\n'), { luanil = { object = true } })
end

local folder = vim.fs.joinpath(check.repository(), 'tests', 'golden', 'wire')
local count = 0
for name in vim.fs.dir(folder) do
  count = count + 1
  check.case('folds ' .. name, function()
    local golden = read(vim.fs.joinpath(folder, name))
    local folded = state.new()
    for _, chunk in ipairs(golden.chunks) do
      state.take(folded, chunk)
    end
    check.equal(as_json(folded), golden.state)
  end)
end

check.case('finds the golden transcripts', function()
  check.equal(count > 10, true)
end)
