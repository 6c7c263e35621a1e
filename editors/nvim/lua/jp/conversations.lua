--- The stored conversations of a workspace: naming them, choosing one, and finding the one that a command is for.

local say = require('jp.say')

local M = {}

---@class jp.Target a conversation that something is done to
---@field client jp.Client
---@field conversation string
---@field title string?
---@field turn integer? the turn under the cursor, counted from 1

---@param label jp.Label
---@return string
function M.label(label)
  return label.value == '' and label.key or ('%s=%s'):format(label.key, label.value)
end

--- What to call a conversation: its title, or how it begins, if a chat shows it.
---@param client jp.Client
---@param conversation string
---@param title string?
---@return string?
function M.name(client, conversation, title)
  if title then
    return title
  end
  for _, chat in pairs(client.chats) do
    if chat.conversation == conversation then
      return chat:beginning()
    end
  end
end

--- A conversation as a list shows it.
---@param summary jp.ConversationSummary
---@param name string? what to call it
---@return string
function M.describe(summary, name)
  local words = { (summary.archivedAt or summary.lastActivatedAt):sub(1, 10), summary.conversation }
  table.insert(words, name)
  local marks = {}
  local function mark(is_there, text)
    table.insert(marks, is_there and text or nil)
  end
  mark(summary.active, 'in use')
  mark(summary.busy, 'busy')
  mark(summary.pinnedAt, 'pinned')
  mark(summary['local'], 'local')
  mark(summary.expiresAt, summary.expiresAt and 'until ' .. summary.expiresAt:sub(1, 10))
  mark(summary.problem, summary.problem)
  vim.list_extend(marks, vim.tbl_map(M.label, summary.labels))
  if #marks > 0 then
    table.insert(words, '· ' .. table.concat(marks, ' · '))
  end
  return table.concat(words, '  ')
end

---@param summary jp.ConversationSummary
---@return integer
local function pinned_first(summary)
  return summary.pinnedAt and 0 or 1
end

--- Let the user choose a conversation of the workspace; those that are pinned stand first.
---@param client jp.Client
---@param prompt string
---@param filter jp.ConversationListParams
---@param done fun(summary: jp.ConversationSummary)
function M.pick(client, prompt, filter, done)
  client:request('jp/conversation/list', filter, function(problem, result)
    if problem then
      say.fail(problem.message)
    elseif #result.conversations == 0 then
      say.info(filter.archived and 'no conversation is archived' or 'there is no conversation yet')
    else
      local places = {}
      for place, summary in ipairs(result.conversations) do
        places[summary] = place
      end
      table.sort(result.conversations, function(one, other)
        local before, after = pinned_first(one), pinned_first(other)
        return before < after or before == after and places[one] < places[other]
      end)
      vim.ui.select(result.conversations, {
        prompt = prompt,
        kind = 'jp_conversation',
        format_item = function(summary)
          return M.describe(summary, M.name(client, summary.conversation, summary.title))
        end,
      }, function(summary)
        if summary then
          done(summary)
        end
      end)
    end
  end)
end

--- Show a conversation, at one of its places if that is asked for.
---@param client jp.Client
---@param conversation string
---@param title string?
---@param place jp.Place?
function M.open(client, conversation, title, place)
  local chat = require('jp.chat.buffer').open(client, conversation, title)
  chat:show()
  if place then
    chat:go_to(place)
  end
end

--- Let the user choose a conversation of the workspace, and show it.
---@param client jp.Client
function M.choose(client)
  M.pick(client, 'Conversation', {}, function(summary)
    M.open(client, summary.conversation, summary.title)
  end)
end

--- The conversation of the chat that a command is for.
---@param chat jp.Chat?
---@return jp.Target?
function M.target(chat)
  return chat
      and chat.conversation
      and { client = chat.client, conversation = chat.conversation, title = chat.title, turn = chat:turn_here() }
    or nil
end

return M
