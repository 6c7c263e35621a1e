--- Shows the open questions, and takes the answers.
---
--- A question stands in the chat below the call that it is about, and a corner of the screen announces it while
--- the cursor is elsewhere. Neither takes a key that is typed: answers are given with keys of the chat that mean
--- nothing else, with `:Jp answer`, or with functions. A list or a line to type in opens only for a question
--- that the user's own last choice has led to. Whatever is merely closed leaves the question open.

local config = require('jp.config')
local questions = require('jp.questions')
local say = require('jp.say')
local wrap = require('jp.wrap')

local M = {}

local BUTTON_KINDS = { menu = true, approval = true, pick = true }
local ASKS_ON = { reply = true, respond = true }
local NARROWEST = 30
local MOST_BUTTONS = 6

-- Which questions there are.

--- The questions that a chat shows: those of its conversation, and in the chat that was used last also those of none.
---@param chat jp.Chat
---@return jp.Question[]
function M.of_chat(chat)
  return vim.tbl_filter(function(question)
    if question.conversation then
      return question.conversation == chat.conversation
    end
    return chat.client.recent == chat
  end, chat.client.questions)
end

---@param chat jp.Chat
---@param call_id string
---@return jp.Question[]
function M.about(chat, call_id)
  return vim.tbl_filter(function(question)
    return question.params.callId == call_id
  end, M.of_chat(chat))
end

--- The question that an answer is for: the chat's own, else the first of the client.
---@param client jp.Client
---@return jp.Question?
function M.current(client)
  local chat = require('jp.chat.buffer').current(client)
  return chat and M.of_chat(chat)[1] or client.questions[1]
end

-- How they look.

--- The buttons with their keys, in lines of a certain width.
---@param buttons [string, string][] key and title
---@param width integer
---@return jp.VirtualLine[]
local function button_lines(buttons, width)
  local lines, used = {}, width
  for _, button in ipairs(buttons) do
    local size = vim.fn.strdisplaywidth(button[1] .. ' ' .. button[2]) + 3
    if used + size > width then
      table.insert(lines, { { '┃ ', 'JpQuestion' } })
      used = 2
    end
    vim.list_extend(lines[#lines], { { button[1], 'JpKey' }, { (' %s   '):format(button[2]), 'JpButton' } })
    used = used + size
  end
  return lines
end

---@param question jp.Question
---@return [string, string][]
local function buttons_of(question)
  local buttons, count = {}, #question.params.actions
  local shown = count > MOST_BUTTONS and MOST_BUTTONS - 1 or count
  for index = 1, shown do
    table.insert(buttons, { 'g' .. index, question.params.actions[index].title })
  end
  if not BUTTON_KINDS[question.kind] then
    table.insert(buttons, { 'g1', question.kind == 'edit' and 'Edit' or 'Answer' })
  elseif shown < count then
    table.insert(buttons, { 'ga', ('%d more'):format(count - shown) })
  end
  if require('jp.diff').proposal(question) then
    table.insert(buttons, { 'gd', 'Show the change' })
  end
  table.insert(buttons, { 'g0', 'Dismiss' })
  return buttons
end

--- The lines of a question in a chat.
---@param question jp.Question
---@param width integer?
---@return jp.VirtualLine[]
function M.lines(question, width)
  width = math.max(width or 72, NARROWEST)
  local lines = {}
  for _, text in ipairs(wrap.lines(question.params.message, width - 2)) do
    table.insert(lines, { { '┃ ', 'JpQuestion' }, { text, 'JpQuestion' } })
  end
  for _, text in ipairs(question.params.detail and wrap.lines(question.params.detail, width - 2) or {}) do
    table.insert(lines, { { '┃ ', 'JpQuestion' }, { text, 'JpDetail' } })
  end
  return vim.list_extend(lines, button_lines(buttons_of(question), width))
end

--- Something about the questions of a client is different now.
---@param client jp.Client
function M.changed(client)
  for _, chat in pairs(client.chats) do
    chat:redraw()
  end
  require('jp.hint').update(client)
  vim.cmd.redrawstatus({ bang = true })
end

--- A question has come. It is opened at once if it follows from what the user chose last, and is not one that
--- the keys of the window where the user is can answer.
---@param client jp.Client
---@param question jp.Question
function M.asked(client, question)
  local chat = require('jp.chat.buffer').here()
  local has_keys = chat ~= nil and config.options.chat.keys and BUTTON_KINDS[question.kind]
  if question.is_expected and not has_keys then
    M.open(client, question)
  end
end

-- Answering.

--- Answer, and remember if that leads to another question: some buttons do, and a text that is not right.
---@param client jp.Client
---@param question jp.Question
---@param result jp.PromptResult
local function answer(client, question, result)
  local chosen = vim.iter(question.params.actions):find(function(action)
    return action.id == result.action
  end)
  local leads_on = not chosen or chosen.title:match('%.%.%.$') or ASKS_ON[chosen.id]
  client.expected = leads_on and { at = vim.uv.now(), call_id = question.params.callId } or nil
  questions.answer(client, question.id, result)
end

--- A message as it stands before what is typed.
---@param message string
---@return string
local function as_prompt(message)
  return message .. (message:match('[?:.!]$') and ' ' or ': ')
end

--- Let the user answer a question: a list, a line, a secret line or a buffer.
---@param client jp.Client
---@param question jp.Question
function M.open(client, question)
  local params = question.params
  if BUTTON_KINDS[question.kind] then
    vim.ui.select(params.actions, {
      prompt = params.message,
      kind = 'jp_' .. question.kind,
      format_item = function(action)
        return action.title
      end,
    }, function(action)
      if action then
        answer(client, question, { action = action.id })
      end
    end)
  elseif question.kind == 'text' then
    vim.ui.input({ prompt = as_prompt(params.message), default = params.value }, function(text)
      if text then
        answer(client, question, { text = text })
      end
    end)
  elseif question.kind == 'secret' then
    local ok, text = pcall(vim.fn.inputsecret, as_prompt(params.message)) -- Ctrl+C is an error
    if ok and text ~= '' then
      answer(client, question, { text = text })
    end
  else
    require('jp.scratch').edit(question, function(text)
      answer(client, question, { text = text })
    end)
  end
end

--- Answer the current question with one of its actions, by number or id; without one, let the user choose.
---@param client jp.Client
---@param choice (integer|string)?
function M.answer(client, choice)
  local question = M.current(client)
  if not question then
    say.info('nothing waits for an answer')
    return
  end
  local actions = question.params.actions
  if choice == nil or (choice == 1 and not BUTTON_KINDS[question.kind]) then
    M.open(client, question)
    return
  end
  local action = type(choice) == 'number' and actions[choice]
    or vim.iter(actions):find(function(each)
      return each.id == choice
    end)
  if action then
    answer(client, question, { action = action.id })
  elseif type(choice) == 'string' and question.kind == 'text' then
    answer(client, question, { text = choice })
  else
    say.warn(('%q is no answer to: %s'):format(choice, question.params.message))
  end
end

--- The same for a key that was pressed: one that was on its way before the question came answers nothing.
---@param client jp.Client
---@param choice integer?
function M.answer_by_key(client, choice)
  local question = M.current(client)
  if question and vim.uv.now() - question.asked_at < config.options.answer_delay_ms then
    say.info('that question has only just come; press again to answer it')
    return
  end
  if choice == 0 then
    M.dismiss(client)
  else
    M.answer(client, choice)
  end
end

--- Close the current question without an answer. This never runs anything.
---@param client jp.Client
function M.dismiss(client)
  local question = M.current(client)
  if question then
    questions.dismiss(client, question.id)
  else
    say.info('nothing waits for an answer')
  end
end

return M
