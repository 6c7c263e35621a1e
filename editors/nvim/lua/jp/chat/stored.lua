--- How a chat shows what is stored: when it is opened, and after the server died.

local config = require('jp.config')
local render = require('jp.chat.render')

---@class jp.Chat
local Chat = {}

--- The conversation was changed, perhaps by somebody else. When it comes back, what could not be asked goes.
---@param change jp.ConversationChangedNotification
function Chat:conversation_changed(change)
  local was_away, kind = self.away ~= nil, change.change
  if kind == 'removed' or kind == 'archived' then
    self.away = kind
  elseif kind ~= 'updated' then
    self.away = nil
  end
  self.title = change.title or self.title
  if was_away and not self.away and not self:running() then
    self:load()
  end
  vim.cmd.redrawstatus({ bang = true })
end

--- Show the conversation as it is stored, in place of what is shown.
function Chat:load()
  local section = render.section(true)
  self.is_loading = true
  self.client:stream('jp/conversation/render', { conversation = self.conversation, joined = true }, function(chunk)
    render.take(section, chunk)
  end, function(problem)
    if problem then
      section.problem = problem
    end
    self:replace(section)
  end)
  self:look_for_title()
  self:look_for_unfinished()
end

---@param section jp.Section
---@private
function Chat:replace(section)
  self.is_loading = false
  if not vim.api.nvim_buf_is_valid(self.buffer) then
    return
  end
  local running = vim.tbl_filter(function(each)
    return not each.is_replay and not each.ended_at
  end, self.sections)
  local troubled = vim.tbl_filter(function(each)
    return each.problem ~= nil and each.problem.code == 'server_gone'
  end, self.sections)
  section.problem = section.problem or troubled[1] and troubled[#troubled].problem
  self.sections = vim.list_extend({ section }, running)
  for _, each in ipairs(running) do
    each.drawn = nil
  end
  vim.bo[self.buffer].modifiable = true
  vim.api.nvim_buf_set_lines(self.buffer, 0, -1, true, {})
  vim.api.nvim_buf_clear_namespace(self.buffer, -1, 0, -1)
  vim.bo[self.buffer].modifiable = false
  self:draw()
end

--- Wait a moment for what is stored, so that a chat does not open empty and fill up before the user's eyes. Keys
--- that are typed meanwhile are kept for the chat.
function Chat:wait_until_loaded()
  vim.wait(config.options.load_ms, function()
    return not self.is_loading
  end, 5)
end

---@private
function Chat:look_for_title()
  self.client:request('jp/conversation/list', {}, function(_, result)
    for _, summary in ipairs(result and result.conversations or {}) do
      if summary.conversation == self.conversation then
        self.title = summary.title or self.title
        vim.cmd.redrawstatus({ bang = true })
      end
    end
  end)
end

--- Ask whether the last turn was cut off, so that it can be resumed.
---@private
function Chat:look_for_unfinished()
  self.client:request('jp/turn/list', {}, function(_, result)
    self.unfinished = vim.iter(result and result.unfinished or {}):any(function(turn)
      return turn.conversation == self.conversation
    end)
    self:redraw()
  end)
end

--- The server died and is back: show what it has stored, and offer to go on with what it had not finished.
function Chat:server_returned()
  local was_cut = vim.iter(self.sections):any(function(section)
    return section.problem ~= nil and section.problem.code == 'server_gone'
  end)
  if self.conversation and was_cut then
    self:load()
  else
    self:redraw()
  end
end

return Chat
