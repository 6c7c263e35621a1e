--- A question sleeps until it is answered, closed or forgotten; nothing but an answer is one.

local check = require('tests.check')
local questions = require('jp.questions')

--- A client that nobody draws, and what became of the questions that are put to it.
local function client()
  package.loaded['jp.approval'] = { changed = function() end, asked = function() end }
  return { root = '/r', questions = {}, announced = {}, chats = {} }, {}
end

---@param one jp.Client
---@param results table<string, any>
---@param id string
local function ask(one, results, id)
  local params =
    { decisionId = id, kind = 'approval', message = 'Run it?', actions = { { id = 'skip', title = 'Skip' } } }
  coroutine.wrap(function()
    results[id] = questions.ask(one, params)
  end)()
end

local function settle()
  vim.wait(20, function()
    return false
  end)
end

check.case('gives the answer, once', function()
  local one, results = client()
  ask(one, results, 'd1')
  settle()
  check.equal({ #one.questions, results.d1 }, { 1 })
  check.equal(questions.answer(one, 'd1', { action = 'skip' }), true)
  check.equal(questions.answer(one, 'd1', { action = 'run' }), false)
  settle()
  check.equal({ #one.questions, results.d1 }, { 0, { action = 'skip' } })
end)

check.case('gives nothing when it is dismissed or withdrawn', function()
  local one, results = client()
  ask(one, results, 'd1')
  ask(one, results, 'd2')
  questions.dismiss(one, 'd1')
  questions.closed(one, 'd2')
  settle()
  check.equal(results, { d1 = vim.NIL, d2 = vim.NIL })
end)

check.case('knows the conversation, whichever comes first', function()
  local one, results = client()
  questions.place(one, { decisionId = 'd1', conversation = 'jp-c1', turn = 't' })
  ask(one, results, 'd1')
  ask(one, results, 'd2')
  questions.place(one, { decisionId = 'd2', conversation = 'jp-c2', turn = 'u' })
  check.equal({ one.questions[1].conversation, one.questions[2].conversation }, { 'jp-c1', 'jp-c2' })
  check.equal(one.announced, {})
end)

check.case('answers a standard message request with the whole button', function()
  local one, results = client()
  local actions = { { title = 'No', id = 'skip' }, { title = 'Yes', id = 'run' } }
  coroutine.wrap(function()
    results.message = questions.ask_message(one, { type = 3, message = 'Run?', actions = actions })
  end)()
  questions.answer(one, one.questions[1].id, { action = '2' })
  settle()
  check.equal(results.message, actions[2])
  check.equal(questions.ask_message(one, { type = 3, message = 'Only told', actions = {} }), vim.NIL)
end)

check.case('forgets all when the server is gone', function()
  local one, results = client()
  ask(one, results, 'd1')
  questions.forget_all(one)
  settle()
  check.equal({ #one.questions, results }, { 0, {} })
end)

package.loaded['jp.approval'] = nil
