--- The open questions of a client. Asking never blocks: the handler of the request sleeps in a coroutine until
--- somebody answers, the server closes the question, or the server is gone.
---
--- How questions look is the business of `jp.approval`; this module only knows which there are.

local say = require('jp.say')

local M = {}

local EXPECTED_WITHIN_MS = 10000

---@class jp.Question
---@field id string
---@field kind jp.PromptKind
---@field params jp.PromptParams
---@field conversation string? known once its `prompt_open` chunk has come
---@field turn jp.ProgressToken?
---@field asked_at integer milliseconds of `vim.uv.now()`
---@field is_expected boolean whether the user did something that leads to this question
---@field buffer integer? where the user looks at it: its text, or the change that it is about
---@field resume fun(result: any)

---@param client jp.Client
---@param id string
---@return jp.Question?
function M.find(client, id)
  for _, question in ipairs(client.questions) do
    if question.id == id then
      return question
    end
  end
end

--- Everybody who shows questions looks again.
---@param client jp.Client
local function changed(client)
  require('jp.approval').changed(client)
end

---@param client jp.Client
---@param question jp.Question
local function add(client, question)
  table.insert(client.questions, question)
  vim.schedule(function()
    if M.find(client, question.id) then
      changed(client)
      say.event('NeedsYou', { root = client.root, conversation = question.conversation, question = question.params })
      require('jp.approval').asked(client, question)
    end
  end)
end

---@param client jp.Client
---@param question jp.Question
---@param result any
local function remove(client, question, result)
  for position, each in ipairs(client.questions) do
    if each == question then
      table.remove(client.questions, position)
      question.resume(result)
      changed(client)
      say.event('Answered', { root = client.root, conversation = question.conversation, question = question.params })
      return
    end
  end
end

---@param client jp.Client
---@param params jp.PromptParams
---@return any
local function wait_for_answer(client, params)
  local thread = assert(coroutine.running())
  local open, expected = client.announced[params.decisionId], client.expected
  client.announced[params.decisionId], client.expected = nil, nil
  add(client, {
    id = params.decisionId,
    kind = params.kind,
    params = params,
    conversation = open and open.conversation,
    turn = open and open.turn,
    asked_at = vim.uv.now(),
    is_expected = expected ~= nil
      and expected.call_id == params.callId
      and vim.uv.now() - expected.at < EXPECTED_WITHIN_MS,
    resume = function(result)
      vim.schedule(function()
        local ok, problem = coroutine.resume(thread, result)
        if not ok then
          say.fail(('an answer could not be sent: %s'):format(problem))
        end
      end)
    end,
  })
  return coroutine.yield()
end

--- `jp/prompt`. Runs in the coroutine of the request, and gives its result.
---@param client jp.Client
---@param params jp.PromptParams
---@return jp.PromptResult|vim.NIL
function M.ask(client, params)
  return wait_for_answer(client, params)
end

--- `window/showMessageRequest`, for questions of a kind that is not ours.
---@param client jp.Client
---@param params lsp.ShowMessageRequestParams
---@return lsp.MessageActionItem|vim.NIL
function M.ask_message(client, params)
  local actions = {}
  for index, action in ipairs(params.actions or {}) do
    actions[index] = { id = tostring(index), title = action.title }
  end
  if #actions == 0 then
    say.info(params.message)
    return vim.NIL
  end
  local id = ('message/%d'):format(vim.uv.hrtime())
  local result = wait_for_answer(client, {
    decisionId = id,
    kind = 'pick',
    message = params.message,
    actions = actions,
  })
  return type(result) == 'table' and params.actions[tonumber(result.action)] or vim.NIL
end

--- A chunk says to which conversation a question belongs.
---@param client jp.Client
---@param chunk jp.PromptOpenChunk
function M.place(client, chunk)
  local question = M.find(client, chunk.decisionId)
  if question then
    question.conversation, question.turn = chunk.conversation, chunk.turn
    changed(client)
  else
    client.announced[chunk.decisionId] = chunk
  end
end

--- The server needs no answer any more; whoever still waits for one is let go without.
---@param client jp.Client
---@param id string
function M.closed(client, id)
  client.announced[id] = nil
  local question = M.find(client, id)
  if question then
    remove(client, question, vim.NIL)
  end
end

--- The server is gone, and its questions with it.
---@param client jp.Client
function M.forget_all(client)
  client.questions, client.announced = {}, {}
  changed(client)
end

--- Answer. An answer to a question that was closed meanwhile changes nothing.
---@param client jp.Client
---@param id string
---@param result jp.PromptResult
---@return boolean # whether the question was open
function M.answer(client, id, result)
  local question = M.find(client, id)
  if not question then
    say.info('that question is closed; nothing was answered')
    return false
  end
  remove(client, question, result)
  return true
end

--- Close a question without an answer, which never runs anything.
---@param client jp.Client
---@param id string
function M.dismiss(client, id)
  local question = M.find(client, id)
  if question then
    remove(client, question, vim.NIL)
  end
end

return M
