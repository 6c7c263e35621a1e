--- Steering a running answer: a press opens the menu of the moment, an action skips it.

local say = require('jp.say')

local M = {}

---@param chat jp.Chat
---@param action string?
---@param text string?
---@param done fun(result: jp.InterruptResult)?
local function send(chat, action, text, done)
  local section = chat:running()
  if not section then
    say.info('nothing runs here')
    return
  end
  local params = { turn = section.token, action = action, text = text }
  if not action then
    chat.client.expected = { at = vim.uv.now() }
  end
  chat.client:request('jp/interrupt', params, function(problem, result)
    if problem then
      say.warn(problem.message)
    elseif done then
      done(result)
    elseif result.handled == 'none' then
      say.info(M.refusal(action, result))
    end
  end)
end

---@param action string?
---@param result jp.InterruptResult
---@return string
function M.refusal(action, result)
  local allowed = table.concat(result.allowed or {}, ', ')
  if allowed == '' then
    return 'nothing can be interrupted now'
  end
  return ('%q does nothing now; what does: %s'):format(action, allowed)
end

--- Open the menu. A second press within two seconds ends the turn and keeps what came.
---@param chat jp.Chat
function M.press(chat)
  send(chat, nil, nil)
end

--- Do something at once: `stop`, `abort`, `continue`, `restart`.
---@param chat jp.Chat
---@param action string
function M.act(chat, action)
  send(chat, action, nil)
end

--- Reply to what is being answered; while tools run, the model is told the text in place of their results.
---@param chat jp.Chat
---@param text string
function M.reply(chat, text)
  send(chat, 'reply', text, function(result)
    if result.handled ~= 'none' then
      return
    elseif vim.tbl_contains(result.allowed or {}, 'respond') then
      send(chat, 'respond', text)
    else
      say.info(M.refusal('reply', result))
      chat:restore_draft(text)
    end
  end)
end

return M
