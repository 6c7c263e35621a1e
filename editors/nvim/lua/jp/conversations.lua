--- The stored conversations of a workspace: choosing one, and changing the one that is shown.

local say = require('jp.say')

local M = {}

--- Let the user choose a conversation of the workspace, and show it.
---@param client jp.Client
function M.choose(client)
  client:request('jp/conversation/list', {}, function(problem, result)
    if problem then
      say.fail(problem.message)
    elseif #result.conversations == 0 then
      say.info('there is no conversation yet')
    else
      vim.ui.select(result.conversations, {
        prompt = 'Conversation',
        kind = 'jp_conversation',
        format_item = function(summary)
          local day = summary.lastActivatedAt:sub(1, 10)
          return ('%s  %s  %s'):format(day, summary.conversation, summary.title or '')
        end,
      }, function(summary)
        if summary then
          local chat = require('jp.chat.buffer').open(client, summary.conversation)
          chat.title = summary.title
          chat:show()
        end
      end)
    end
  end)
end

--- Change the conversation of a chat, if the server offers that.
---@param chat jp.Chat
---@param method string
---@param params table<string, any>
function M.change(chat, method, params)
  if not chat.conversation then
    say.info('the conversation has not begun')
    return
  end
  params = vim.tbl_extend('force', { conversation = chat.conversation }, params)
  chat.client:request(method, params, function(problem)
    if problem then
      say.warn(problem.message)
    end
  end)
end

--- Remove the conversation of a chat, once the user has said so twice.
---@param chat jp.Chat
function M.remove(chat)
  vim.ui.select({ 'Keep it', 'Remove it' }, { prompt = 'Remove the conversation for good?' }, function(choice)
    if choice == 'Remove it' then
      M.change(chat, 'jp/conversation/remove', {})
    end
  end)
end

return M
