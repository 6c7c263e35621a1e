--- How a chat asks: what goes along with a query, and what becomes of one that could not be asked.

local config = require('jp.config')
local input = require('jp.chat.input')
local render = require('jp.chat.render')
local say = require('jp.say')
local windows = require('jp.chat.windows')

---@class jp.Chat
local Chat = {}

--- What goes along with the next query, and is used up by it.
---@param is_new boolean whether the query begins a conversation
---@return table<string, any>
---@private
function Chat:take_extras(is_new)
  local extras, settings = {}, {}
  if is_new and config.options.model ~= '' then
    table.insert(settings, 'assistant.model.id=' .. config.options.model)
  end
  vim.list_extend(settings, self.config)
  if #settings > 0 then
    extras.config = settings
  end
  if #self.attachments > 0 then
    extras.attachments = self.attachments
  end
  if #self.selections > 0 then
    extras.content = vim.tbl_map(function(selection)
      return { type = 'text', text = selection.text }
    end, self.selections)
  end
  self.config, self.attachments, self.selections = {}, {}, {}
  return extras
end

--- Ask. While an answer comes, the query waits for its end.
---@param text string
---@param more table<string, any>? more fields of `jp.QueryParams`; a document names its conversation itself
---@param done fun(result: jp.QueryResult?)? called at the end
function Chat:ask(text, more, done)
  more = more or {}
  if not self.conversation and self:running() then
    table.insert(self.later, { text = text, more = more })
    return
  end
  local conversation = not more.document and (self.conversation or 'new') or nil
  local extras = self:take_extras(conversation == 'new')
  local params = vim.tbl_extend('force', {
    text = text ~= '' and text or nil,
    conversation = conversation,
    queue = true,
  }, extras, more)
  local section = render.section(false)
  section.started_at = vim.uv.now()
  table.insert(self.sections, section)
  self.unfinished = false
  local has_begun = false
  section.token = self.client:stream('jp/query', params, function(chunk)
    render.take(section, chunk)
    self:learn_conversation(chunk.conversation)
    if not has_begun then
      has_begun = true
      say.event('TurnStarted', self:about(section))
    end
    self:redraw()
  end, function(problem, result)
    section.problem, section.result, section.ended_at = problem, result, vim.uv.now()
    section.state.slots, section.state.prompts = {}, {}
    self:ended(section, text, extras)
    if done then
      done(result)
    end
  end)
  self:redraw()
end

---@param section jp.Section
---@return table<string, any>
---@private
function Chat:about(section)
  return {
    root = self.client.root,
    conversation = self.conversation,
    turn = section.token,
    buffer = self.buffer,
    outcome = section.result and section.result.outcome or nil,
    problem = section.problem,
  }
end

--- A query is over: keep what could not be asked, and ask what had to wait.
---@param section jp.Section
---@param text string
---@param extras table<string, any>
---@private
function Chat:ended(section, text, extras)
  local problem, result = section.problem, section.result
  self:learn_conversation(result and result.conversation)
  local was_cut = problem ~= nil and problem.code == 'server_gone'
  local draft = problem and (problem.draft or text) or result and result.draft
  if draft and draft ~= '' and not (was_cut and #section.state.turns > 0) then
    self:restore_draft(draft)
  end
  if problem and #section.state.turns == 0 then
    self.config = vim.list_extend(extras.config or {}, self.config)
    self.attachments = vim.list_extend(extras.attachments or {}, self.attachments)
  end
  say.event('TurnCompleted', self:about(section))
  local next_one = not was_cut and table.remove(self.later, 1)
  if next_one then
    self:ask(next_one.text, next_one.more)
  end
  self:redraw()
end

--- Go on with a turn that was cut off.
function Chat:resume()
  if self:running() then
    say.info('the turn runs already')
  elseif not self.conversation then
    say.info('there is nothing to resume')
  else
    self:forget_last_turn()
    self:ask('', { resume = true })
  end
end

--- Ask a turn again. It and those behind it stay until the new one is stored, so they are shown until then.
---@param turn integer counted from 1
---@param text string what is asked instead; empty for the same
function Chat:replay(turn, text)
  self:show_end()
  self:ask(text, { replay = turn }, function(result)
    if result then
      self:load()
    end
  end)
end

--- The turn that is resumed is shown again from its beginning.
---@private
function Chat:forget_last_turn()
  local section = self.sections[#self.sections]
  if section and section.is_replay then
    table.remove(section.state.turns)
    section.is_stale, section.problem = true, nil
    self:redraw()
  end
end

--- Send what stands in the input.
function Chat:send_input()
  local text = input.take(self.input)
  if text == '' then
    say.info('there is nothing to send')
    return
  end
  vim.cmd.stopinsert()
  self:show_end()
  self:ask(text)
end

--- Let every window of the chat follow from now on.
---@private
function Chat:show_end()
  windows.follow(self.buffer, vim.fn.win_findbuf(self.buffer))
end

--- Put a text that was not asked back where it can be changed and sent again.
---@param text string
function Chat:restore_draft(text)
  input.put_before(self.input, text)
end

--- A new conversation has its id.
---@param conversation string?
---@private
function Chat:learn_conversation(conversation)
  if not conversation or self.conversation then
    return
  end
  self.conversation = conversation
  if not vim.api.nvim_buf_is_valid(self.buffer) then
    return
  end
  windows.rename(self.buffer, 'jp://conversation/' .. conversation)
  local later = self.later
  self.later = {}
  for _, each in ipairs(later) do
    self:ask(each.text, each.more)
  end
end

return Chat
