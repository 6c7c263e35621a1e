--- What users and other plugins call. Everything else is loaded when it is first needed.

local M = {}

--- Set options; without it the defaults hold. See |jp-options|.
---@param options table<string, any>?
function M.setup(options)
  local problems = require('jp.config').set(options)
  if #problems > 0 then
    require('jp.say').warn('setup: ' .. table.concat(problems, '; '))
  end
end

---@return jp.Chat
local function chat()
  local chats = require('jp.chat.buffer')
  local client = require('jp.client').here()
  return chats.current(client) or chats.new(client)
end

--- Ask in the chat that was used last, or in a new one. Without text the input opens.
---@param text string?
---@param params table<string, any>? more fields of `jp.QueryParams`
function M.ask(text, params)
  local one = chat()
  if not text or text == '' then
    one:write()
  else
    local window = vim.api.nvim_get_current_win()
    one:show()
    vim.api.nvim_set_current_win(window)
    one:ask(text, params)
  end
end

--- Take lines of a buffer along with the next query.
---@param buffer integer
---@param first integer counted from 1
---@param last integer
function M.select(buffer, first, last)
  local one = chat()
  local selection =
    require('jp.context').lines(buffer == 0 and vim.api.nvim_get_current_buf() or buffer, first, last, one.client.root)
  table.insert(one.selections, selection)
end

--- Show a chat: of a stored conversation, `new`, `last`, or the one that was used last.
---@param conversation string?
function M.chat(conversation)
  local chats = require('jp.chat.buffer')
  local client = require('jp.client').here()
  if conversation == 'new' then
    chats.new(client):write()
  elseif conversation == 'last' then
    client:request('jp/conversation/list', { limit = 1 }, function(problem, result)
      local summary = result and result.conversations[1]
      if summary then
        chats.open(client, summary.conversation, summary.title):show()
      else
        require('jp.say').info(problem and problem.message or 'there is no conversation yet')
      end
    end)
  elseif conversation then
    chats.open(client, conversation):show()
  else
    chat():show()
  end
end

--- Answer the open question: with the id or number of a button, a text, or, without any, by choosing.
---@param choice (integer|string)?
function M.answer(choice)
  require('jp.approval').answer(require('jp.client').asking(), choice)
end

--- Steer the running answer: `stop`, `abort`, `continue`, `restart`; without an action its menu opens.
---@param action string?
function M.interrupt(action)
  local interrupt = require('jp.interrupt')
  if action then
    interrupt.act(chat(), action)
  else
    interrupt.press(chat())
  end
end

--- For the statusline: empty as long as nothing was asked.
---@return string
function M.statusline()
  return package.loaded['jp.client'] and require('jp.status').statusline() or ''
end

--- The title line of the chat whose window is being drawn.
---@return string
function M.winbar()
  local one = require('jp.chat.buffer').here() -- Neovim evaluates it as if in that window
  return one and require('jp.status').winbar(one) or ''
end

--- The title line of the input whose window is being drawn.
---@return string
function M.input_winbar()
  local one = require('jp.chat.buffer').here() -- Neovim evaluates it as if in that window
  return one and require('jp.status').input_winbar(one) or ''
end

return M
