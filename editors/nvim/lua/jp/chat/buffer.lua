--- A chat: one conversation in one buffer, with a buffer to write in.
---
--- It gathers what comes for a few milliseconds, then draws it: `jp.chat.render` the text, `jp.chat.folds` and
--- `jp.chat.marks` what lies on top. Windows are the business of `jp.chat.windows`. How a chat asks is in
--- `jp.chat.asking`, how it shows what is stored in `jp.chat.stored`, how its places are found in `jp.chat.place`.

local approval = require('jp.approval')
local config = require('jp.config')
local folds = require('jp.chat.folds')
local input = require('jp.chat.input')
local marks = require('jp.chat.marks')
local render = require('jp.chat.render')
local state = require('jp.state')
local windows = require('jp.chat.windows')

local M = {}

local SPIN_MS = 250
local LONGEST_NAME = 60

---@class jp.Chat
---@field client jp.Client
---@field buffer integer
---@field input integer the buffer where queries are written
---@field conversation string? none while it is new
---@field title string?
---@field away 'removed'|'archived'|nil where it is, if it is not among the conversations
---@field sections jp.Section[]
---@field folds table<integer, jp.Fold> by their first row
---@field fold_levels table<integer, string> by line
---@field config string[] settings for the next query
---@field attachments string[] for the next query
---@field selections jp.Selection[] for the next query
---@field unfinished boolean whether its last turn was cut off
---@field is_loading boolean whether what is stored is on its way
---@field goal jp.Place? where to go as soon as that is drawn
---@field private later { text: string, more: table<string, any> }[] asked before the conversation had its id
---@field private is_scheduled boolean
---@field private timer uv.uv_timer_t?
local Chat = vim.tbl_extend('error', require('jp.chat.asking'), require('jp.chat.stored'), require('jp.chat.place'))
Chat.__index = Chat

---@type table<integer, jp.Chat> by chat buffer and by input buffer
local chats = {}

require('jp.highlights').setup()

-- Finding and making chats.

--- The chat that a buffer belongs to.
---@param buffer integer
---@return jp.Chat?
function M.of(buffer)
  return chats[buffer]
end

--- The chat where the cursor is.
---@return jp.Chat?
function M.here()
  return chats[vim.api.nvim_get_current_buf()]
end

--- The chat that a command is for: the one where the cursor is, else the one that was used last.
---@param client jp.Client
---@return jp.Chat?
function M.current(client)
  local here = M.here()
  return here and here.client == client and here or client.recent
end

local count = 0

---@param client jp.Client
---@param conversation string?
---@param buffer integer? an empty buffer that becomes the chat
---@return jp.Chat
local function make(client, conversation, buffer)
  count = count + 1
  buffer = buffer or vim.api.nvim_create_buf(true, false)
  local chat = setmetatable({
    client = client,
    buffer = buffer,
    conversation = conversation,
    sections = {},
    folds = {},
    fold_levels = {},
    config = {},
    attachments = {},
    selections = {},
    unfinished = false,
    is_loading = false,
    later = {},
    is_scheduled = false,
  }, Chat)
  chats[buffer] = chat
  client.chats[buffer] = chat
  if not conversation then
    vim.api.nvim_buf_set_name(buffer, ('jp://new/%d'):format(count))
  elseif vim.api.nvim_buf_get_name(buffer) == '' then
    vim.api.nvim_buf_set_name(buffer, 'jp://conversation/' .. conversation)
  end
  vim.bo[buffer].buftype = 'nofile'
  vim.bo[buffer].bufhidden = 'hide'
  vim.bo[buffer].swapfile = false
  vim.bo[buffer].undolevels = -1
  vim.bo[buffer].modifiable = false
  chat.input = input.make(('jp://input/%d'):format(count))
  chats[chat.input] = chat
  vim.bo[buffer].filetype = 'jpchat'
  chat:watch()
  if conversation then
    chat:load()
    chat:wait_until_loaded()
  end
  client.recent = chat
  return chat
end

--- A new chat, whose conversation begins with its first query.
---@param client jp.Client
---@return jp.Chat
function M.new(client)
  return make(client, nil)
end

--- The chat of a stored conversation.
---@param client jp.Client
---@param conversation string
---@param title string? if it is known
---@return jp.Chat
function M.open(client, conversation, title)
  local chat
  for _, each in pairs(client.chats) do
    chat = each.conversation == conversation and each or chat
  end
  chat = chat or make(client, conversation)
  chat.title = title or chat.title
  client.recent = chat
  return chat
end

--- Fill a buffer whose name begins with `jp://`, as after `:edit` or when a session is restored.
---@param buffer integer
---@param name string
function M.read(buffer, name)
  local conversation = name:match('jp://conversation/(jp%-c%d+)$')
  if not conversation or chats[buffer] then
    return
  end
  make(require('jp.client').of(), conversation, buffer)
  windows.prepare(buffer)
end

--- Keep window options right wherever the buffer is shown, and forget the chat with its buffer.
---@private
function Chat:watch()
  vim.api.nvim_create_autocmd('BufWinEnter', {
    buffer = self.buffer,
    callback = function()
      windows.prepare(self.buffer)
      self:redraw()
    end,
  })
  for _, buffer in ipairs({ self.buffer, self.input }) do
    vim.api.nvim_create_autocmd('BufEnter', {
      buffer = buffer,
      callback = function()
        self.client.recent = self
      end,
    })
  end
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = self.buffer,
    callback = function()
      chats[self.buffer], chats[self.input], self.client.chats[self.buffer] = nil, nil, nil
      self:stop_spinning()
      if self.client.recent == self then
        self.client.recent = select(2, next(self.client.chats))
      end
      vim.schedule(function()
        pcall(vim.api.nvim_buf_delete, self.input, { force = true }) -- it may be gone already
      end)
    end,
  })
end

-- Looking at it.

--- How the first query that is shown begins.
---@return string?
function Chat:beginning()
  for _, section in ipairs(self.sections) do
    for _, item in ipairs(section.state.turns[1] and section.state.turns[1].items or {}) do
      if item.type == 'text' then
        return vim.fn.strcharpart(vim.trim(state.text_of(item)):match('[^\n]*'), 0, LONGEST_NAME)
      end
    end
  end
end

--- What people call it: its title, else how its first query begins.
---@return string
function Chat:name()
  local name = self.title or self:beginning() or self.conversation or 'New conversation'
  return self.away and ('%s (%s)'):format(name, self.away) or name
end

--- The section of a query that runs; the last one, if several wait.
---@return jp.Section?
function Chat:running()
  for position = #self.sections, 1, -1 do
    local section = self.sections[position]
    if not section.is_replay and not section.ended_at then
      return section
    end
  end
end

--- How wide lines may be.
---@return integer
function Chat:width()
  local window = vim.fn.win_findbuf(self.buffer)[1]
  return window and vim.api.nvim_win_get_width(window) - 2 or 72
end

---@return jp.DrawnItem?
function Chat:item_under_cursor()
  local window = vim.fn.win_findbuf(self.buffer)[1]
  local row = window and vim.api.nvim_win_get_cursor(window)[1] - 1
  return row and (render.item_at(self.sections, row)) or nil
end

--- Show the chat, and put the cursor into it.
function Chat:show()
  windows.show(self)
  self:redraw()
end

--- Show the chat, and put the cursor where a query is written.
function Chat:write()
  windows.show_input(self)
  vim.cmd.startinsert({ bang = true })
end

--- Close the windows of the chat in this tab page.
function Chat:hide()
  windows.hide(self)
end

--- Move the cursor to the next or the previous speaker.
---@param direction 1|-1
function Chat:to_speaker(direction)
  local row, found = vim.api.nvim_win_get_cursor(0)[1] - 1, nil
  for _, section in ipairs(self.sections) do
    for _, drawn in ipairs(section.drawn and section.drawn.items or {}) do
      if drawn.item.type == 'role' then
        if direction > 0 and drawn.first > row then
          found = found or drawn.first
        elseif direction < 0 and drawn.first < row then
          found = drawn.first
        end
      end
    end
  end
  if found then
    vim.cmd("normal! m'")
    vim.api.nvim_win_set_cursor(0, { found + 1, 0 })
  end
end

-- Drawing.

--- Draw soon, together with what else comes until then.
function Chat:redraw()
  if self.is_scheduled then
    return
  end
  self.is_scheduled = true
  vim.defer_fn(function()
    self.is_scheduled = false
    self:draw()
  end, config.options.batch_ms)
end

---@private
function Chat:draw()
  if not vim.api.nvim_buf_is_valid(self.buffer) then
    return
  end
  local following = windows.at_end(self.buffer)
  local has_shifted = folds.update(self, vim.api.nvim_buf_line_count(self.buffer))
  local is_anew = render.draw(self.buffer, self.sections, function(row)
    has_shifted = folds.update(self, row) or has_shifted
  end)
  if is_anew or has_shifted then
    folds.refresh(self)
  end
  marks.update(self)
  windows.follow(self.buffer, following, self:question_line())
  self:reach_goal()
  self:spin()
  if vim.fn.getcmdtype() == '@' then
    vim.cmd.redraw() -- while a line is typed Neovim draws nothing by itself
  end
end

--- The line below which the open question stands, if that is at a call.
---@return integer?
---@private
function Chat:question_line()
  local question = approval.of_chat(self)[1]
  local call = question and render.call(self.sections, question.params.callId)
  return call and call.last + 1
end

--- Turn the spinner as long as something runs.
---@private
function Chat:spin()
  if not self:running() then
    self:stop_spinning()
  elseif not self.timer then
    self.timer = assert(vim.uv.new_timer())
    local turn = vim.schedule_wrap(function()
      self:redraw()
      vim.cmd.redrawstatus({ bang = true })
    end)
    self.timer:start(SPIN_MS, SPIN_MS, turn)
  end
end

---@private
function Chat:stop_spinning()
  if self.timer then
    self.timer:close()
    self.timer = nil
    vim.cmd.redrawstatus({ bang = true })
  end
end

return M
