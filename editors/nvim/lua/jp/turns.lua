--- What can be done with the turn of a chat that the cursor is on: asking it again, changing what the user said in
--- it, and removing it.

local say = require('jp.say')

local M = {}

---@class jp.ChosenTurn
---@field chat jp.Chat
---@field conversation string
---@field index integer counted from 1

---@param turn jp.ChosenTurn
---@param params table<string, any>
---@param sentence string
local function amend(turn, params, sentence)
  params = vim.tbl_extend('force', { conversation = turn.conversation, turn = turn.index }, params)
  turn.chat.client:request('jp/conversation/edit', params, function(problem, result)
    if problem then
      say.warn(problem.message)
      return
    end
    turn.chat:load()
    local copy = result.copyUri and vim.uri_to_fname(result.copyUri):match('[^/]+/[^/]+$') -- the whole fills screens
    say.info(sentence:format(turn.index) .. (copy and '; as it was it is kept in ' .. copy or ''))
  end)
end

--- Hand over what the user said in a turn, as it is stored; what is drawn is laid out for reading.
---@param turn jp.ChosenTurn
---@param done fun(text: string)
local function with_text(turn, done)
  turn.chat.client:request('jp/conversation/export', {
    conversation = turn.conversation,
    format = 'json',
    turns = { fromTurn = turn.index, toTurn = turn.index },
  }, function(problem, result)
    if problem then
      say.warn(problem.message)
      return
    end
    local request = vim.iter(vim.json.decode(result.text).events):find(function(event)
      return event.type == 'chat_request'
    end)
    if request then
      done(request.content)
    else
      say.info(('nothing was asked in turn %d'):format(turn.index))
    end
  end)
end

---@param turn jp.ChosenTurn
---@param text string
local function replay(turn, text)
  turn.chat:replay(turn.index, text)
end

---@param turn jp.ChosenTurn
local function edit(turn)
  with_text(turn, function(said)
    require('jp.scratch').write({
      name = ('turn/%s/%d'):format(turn.conversation, turn.index),
      title = ('What you said in turn %d'):format(turn.index),
      text = said,
      filetype = 'markdown',
      keys = '%#JpKey#:w%* changes it  %#JpKey#:q!%* leaves it ',
    }, function(text)
      amend(turn, { text = text }, 'turn %d is changed')
    end)
  end)
end

---@param turn jp.ChosenTurn
local function remove(turn)
  amend(turn, { remove = true }, 'turn %d is removed')
end

---@type table<string, fun(turn: jp.ChosenTurn, text: string)>
local ACTIONS = { replay = replay, edit = edit, remove = remove }

M.names = { 'replay', 'edit', 'remove' }

local DESCRIPTIONS = {
  replay = 'Ask it again; it and what is behind it go',
  edit = 'Change what you said in it; the answer stays',
  remove = 'Remove it',
}

---@param turn jp.ChosenTurn
---@param name string
---@param text string
local function act(turn, name, text)
  if turn.chat:running() then
    say.info('wait for the answer that is running, or stop it: `:Jp stop`')
  else
    ACTIONS[name](turn, text)
  end
end

--- Do something with the turn under the cursor of a chat; without a name the user chooses.
---@param chat jp.Chat
---@param name string?
---@param text string what is asked instead, when it is asked again
function M.apply(chat, name, text)
  local index = chat:turn_here()
  if not chat.conversation or not index then
    say.info('put the cursor on a turn of the chat')
    return
  elseif name and not ACTIONS[name] then
    say.warn(('a turn can be asked again (`replay`), changed (`edit`) or removed, but not `%s`'):format(name))
    return
  end
  local turn = { chat = chat, conversation = chat.conversation, index = index }
  if name then
    act(turn, name, text)
    return
  end
  vim.ui.select(M.names, {
    prompt = ('Turn %d'):format(index),
    kind = 'jp_turn',
    format_item = function(each)
      return DESCRIPTIONS[each]
    end,
  }, function(chosen)
    if chosen then
      act(turn, chosen, '')
    end
  end)
end

return M
