--- Conversations as lists show them, and what the words behind a verb mean.

local check = require('tests.check')
local conversations = require('jp.conversations')
local documents = require('jp.documents')
local query_document = require('jp.query_document')
local search = require('jp.search')
local settings = require('jp.settings')
local verbs = require('jp.verbs')

---@param more table<string, any>
---@return jp.ConversationSummary
local function summary(more)
  return vim.tbl_extend('force', {
    conversation = 'jp-c17912345678',
    title = 'Locks',
    lastActivatedAt = '2026-10-05T21:11:02.500Z',
    labels = {},
    archived = false,
    ['local'] = false,
    active = false,
    busy = false,
  }, more)
end

check.case('describes a conversation by its day, id and title', function()
  check.equal(conversations.describe(summary({}), 'Locks'), '2026-10-05  jp-c17912345678  Locks')
  check.equal(conversations.describe(summary({}), nil), '2026-10-05  jp-c17912345678')
  check.equal(
    conversations.describe(summary({ archivedAt = '2026-11-01T00:00:00Z' }), 'Locks'),
    '2026-11-01  jp-c17912345678  Locks'
  )
end)

check.case('says what is special about a conversation', function()
  local special = summary({
    pinnedAt = '2026-10-05T12:00:00Z',
    expiresAt = '2026-12-24T00:00:00Z',
    ['local'] = true,
    active = true,
    labels = { { key = 'area', value = 'storage' }, { key = 'wip', value = '' } },
  })
  check.equal(
    conversations.describe(special, 'Locks'),
    '2026-10-05  jp-c17912345678  Locks  · in use · pinned · local · until 2026-12-24 · area=storage · wip'
  )
end)

check.case('calls a conversation by its title, or by how it begins in an open chat', function()
  local chat = {
    conversation = 'jp-c1',
    beginning = function()
      return 'Why?'
    end,
  }
  local client = { chats = { chat } }
  check.equal(conversations.name(client, 'jp-c1', 'Locks'), 'Locks')
  check.equal(conversations.name(client, 'jp-c1', nil), 'Why?')
  check.equal(conversations.name(client, 'jp-c2', nil), nil)
end)

check.case('writes a time for people', function()
  check.equal(verbs.time('2026-12-31T03:18:51.167237600Z'), '2026-12-31 03:18 UTC')
end)

check.case('reads labels to add and keys to take away', function()
  check.equal(verbs.labels({ 'area=tests', 'wip', '-old' }), {
    add = { { key = 'area', value = 'tests' }, { key = 'wip' } },
    remove = { 'old' },
  })
  check.equal(verbs.labels({ 'url=a=b' }), { add = { { key = 'url', value = 'a=b' } } })
end)

check.case('knows which turns a copy is to have', function()
  local target = { client = {}, conversation = 'jp-c1', turn = 3 }
  check.equal(verbs.fork_params(target, {}), {})
  check.equal(verbs.fork_params(target, { 'last', '2' }), { lastTurns = 2 })
  check.equal(verbs.fork_params(target, { 'last' }), { lastTurns = 1 })
  check.equal(verbs.fork_params(target, { 'here' }), { firstTurns = 3 })
  check.equal({ verbs.fork_params({}, { 'here' }) }, { nil, 'put the cursor on a turn of the chat' })
  check.equal(verbs.fork_params(target, { 'sideways' }), nil)
  check.equal(verbs.fork_params(target, { 'last', 'few' }), nil)
end)

check.case('says which turns', function()
  local ranges = { { fromTurn = 1, toTurn = 1 }, { fromTurn = 3, toTurn = 5 } }
  check.equal(verbs.ranges(ranges), 'turn 1 and turns 3 to 5')
end)

check.case('describes a hit by where it is and what stands around it', function()
  local hit = {
    conversation = 'jp-c1',
    title = 'Locks',
    scope = 'tool_result',
    turn = 2,
    event = 5,
    before = '  x = ',
    match = 'lock',
    after = '()\t# taken',
    count = 3,
  }
  check.equal(search.describe(hit, 'Locks'), 'Locks · turn 2, result: x = lock() # taken (3×)')
  check.equal(
    search.describe({ conversation = 'jp-c1', scope = 'title', before = '', match = 'lock', after = '', count = 1 }),
    'jp-c1 · title: lock'
  )
end)

check.case('knows the files that the server helps to write', function()
  for path, is_ours in pairs({
    ['/w/ask.jp.md'] = true,
    ['/w/.jp/config.toml'] = true,
    ['/w/.jp/config/personas/poet.yml'] = true,
    ['/w/.jp/config/skills/a.json5'] = true,
    ['/w/.jp/conversations/17912345678/events.json'] = false,
    ['/w/.jp/notes.md'] = false,
    ['/w/config.toml'] = false,
    ['/w/README.md'] = false,
  }) do
    check.equal({ path, documents.is_ours(path) }, { path, is_ours })
  end
end)

check.case('writes a value as lines with dotted keys', function()
  local value = { model = { id = 'a/b', parameters = { stop = { 'x' } } }, name = 'Ada' }
  check.equal(settings.lines(value, 'assistant'), {
    'assistant.model.id = "a/b"',
    'assistant.model.parameters.stop = ["x"]',
    'assistant.name = "Ada"',
  })
  check.equal(settings.lines(true, 'a.b'), { 'a.b = true' })
  check.equal(settings.lines({}, 'a.b'), { 'a.b = []' })
end)

check.case('finds the key that a hover describes', function()
  local hover = { contents = { kind = 'markdown', value = '**`assistant.name`**\n\nThe name.' } }
  check.equal(settings.key_of(hover), 'assistant.name')
  check.equal(settings.key_of({ contents = { kind = 'markdown', value = '**greet** `x`' } }), nil)
  check.equal(settings.key_of(nil), nil)
end)

check.case('calls a quote by its first line', function()
  check.equal(query_document.label('`src/a.py`, lines 1 to 2:\n\n```python\nx\n```'), 'src/a.py, lines 1 to 2')
end)
