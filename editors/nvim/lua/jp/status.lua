--- What goes on, in few words: for the chat, its title line and the statusline.

local config = require('jp.config')

local M = {}

local SPINNER = { '◐', '◓', '◑', '◒' }

---@type table<jp.Phase, string>
local PHASES = {
  preparing = 'preparing',
  opening = 'preparing',
  waiting = 'waiting for the model',
  streaming = 'answering',
  interrupted_stream = 'interrupted',
  replying = 'waiting for your reply',
  backoff = 'waiting to try again',
  evaluating = 'thinking about tools',
  executing = 'running tools',
  interrupted_tools = 'interrupted',
  continuing = 'going on',
  finishing = 'finishing',
  closing = 'finishing',
}

---@type table<jp.Outcome, string>
local OUTCOMES = {
  completed = 'done',
  truncated = 'cut off at the output limit',
  empty = 'no answer came',
  refused = 'refused by the model',
  stopped = 'stopped',
  aborted = 'discarded',
  interrupted = 'interrupted',
  killed = 'ended by force',
  failed = 'failed',
  replied = 'replied to',
  waiting_for_input = 'waits for your input',
  empty_query = 'nothing was asked',
  cancelled_before_start = 'cancelled',
}

---@param outcome jp.Outcome
---@return string
function M.outcome(outcome)
  return OUTCOMES[outcome] or outcome
end

---@param usage jp.Usage?
---@return string?
function M.usage(usage)
  local words = {}
  for _, each in ipairs({
    { 'inputTokens', 'in' },
    { 'outputTokens', 'out' },
    { 'cachedTokens', 'cached' },
    { 'reasoningTokens', 'thinking' },
  }) do
    local count = usage and usage[each[1]]
    if count and count > 0 then
      table.insert(words, ('%d%s %s'):format(count, #words == 0 and ' tokens' or '', each[2]))
    end
  end
  return #words > 0 and table.concat(words, ', ') or nil
end

---@param from integer? milliseconds
---@param to integer?
---@return string?
function M.duration(from, to)
  if not from or not to then
    return nil
  end
  local seconds = (to - from) / 1000
  if seconds < 60 then
    return ('%.1f s'):format(seconds)
  end
  return ('%d min %02d s'):format(math.floor(seconds / 60), math.floor(seconds % 60))
end

--- A mark that turns while something runs.
---@return string
local function spinner()
  return SPINNER[math.floor(vim.uv.now() / 250) % #SPINNER + 1]
end

--- Whether a section is a query that has not ended.
---@param section jp.Section
---@return boolean
function M.runs(section)
  return not section.is_replay and section.ended_at == nil
end

---@param slot table<string, any>
---@return string
local function tool_words(slot)
  local words = { slot.name or 'a tool' }
  table.insert(words, slot.message)
  table.insert(words, slot.percentage and ('%d%%'):format(slot.percentage) or nil)
  table.insert(words, slot.elapsedMs and M.duration(0, slot.elapsedMs) or nil)
  return table.concat(words, ' · ')
end

---@type table<string, fun(slot: table<string, any>): string?>
local SLOTS = {
  status = function(slot)
    return slot.detail or PHASES[slot.phase]
  end,
  reasoning_indicator = function()
    return 'thinking'
  end,
  tool_preparing = function(slot)
    return 'writing the arguments of ' .. tool_words(slot)
  end,
  tool_progress = function(slot)
    return 'running ' .. tool_words(slot)
  end,
  retry = function(slot)
    local wait = M.duration(0, slot.delayMs) or 'a moment'
    return ('%s; attempt %d of %d in %s'):format(slot.cause or 'trouble', slot.attempt or 1, slot.max or 1, wait)
  end,
  notice = function(slot)
    return slot.text
  end,
}

--- What the slots of a query show. Where the turn stands is left out where something says it better: a tool
--- that runs, or a question.
---@param slots table<string, table<string, any>>
---@param is_asking boolean
---@return string[]
local function slot_words(slots, is_asking)
  local shown = {}
  for name, slot in vim.spairs(slots) do
    local words = name ~= 'status' and SLOTS[slot.type] and SLOTS[slot.type](slot)
    table.insert(shown, words or nil)
  end
  if slots.status and #shown == 0 and not is_asking then
    table.insert(shown, SLOTS.status(slots.status))
  end
  return shown
end

--- What a chat says that has nothing to show.
---@param chat jp.Chat
---@return jp.VirtualLine[]
local function words_for_nothing(chat)
  if chat.is_loading then
    return { { { 'loading the conversation', 'JpStatus' } } }
  elseif not config.options.chat.keys then
    return { { { ':Jp ask', 'JpKey' }, { ' writes a query', 'JpDetail' } } }
  end
  return {
    { { 'i', 'JpKey' }, { '    writes a query', 'JpDetail' } },
    { { '<CR>', 'JpKey' }, { ' sends it', 'JpDetail' } },
    { { 'g?', 'JpKey' }, { '   shows all keys', 'JpDetail' } },
  }
end

--- Whether nothing was said, asked or told in a chat.
---@param chat jp.Chat
---@return boolean
local function is_empty(chat)
  return not vim.iter(chat.sections):any(function(section)
    return #section.state.turns > 0 or section.problem ~= nil or not section.is_replay
  end)
end

--- The virtual lines at the end of a chat: what is shown for a moment only.
---@param chat jp.Chat
---@return jp.VirtualLine[]
function M.live_lines(chat)
  local lines = {}
  local is_asking = #require('jp.approval').of_chat(chat) > 0
  for _, section in ipairs(chat.sections) do
    local preview = section.state.slots.preview
    for line in vim.gsplit(vim.trim(preview and preview.md or ''), '\n', { trimempty = true }) do
      table.insert(lines, { { line, 'JpPreview' } })
    end
    local shown = slot_words(section.state.slots, is_asking)
    if #shown == 0 and not is_asking and M.runs(section) then
      shown = { chat.client.status == 'ready' and 'answering' or 'starting the server' }
    end
    for _, words in ipairs(shown) do
      table.insert(lines, { { spinner() .. ' ', 'JpSpinner' }, { words, 'JpStatus' } })
    end
  end
  if chat.unfinished and not chat:running() then
    table.insert(lines, { { 'The last turn was cut off.', 'JpOutcome' } })
    table.insert(lines, { { ':Jp resume', 'JpKey' }, { ' goes on with it.', 'JpDetail' } })
  end
  if is_empty(chat) then
    vim.list_extend(lines, words_for_nothing(chat))
  end
  return lines
end

---@param client jp.Client
---@return 'needs you'|'working'|'idle'|'stopped'
function M.of_client(client)
  if #client.questions > 0 then
    return 'needs you'
  end
  for _, chat in pairs(client.chats) do
    if chat:running() then
      return 'working'
    end
  end
  return client.status == 'stopped' and 'stopped' or 'idle'
end

--- For the statusline: empty as long as nothing was asked.
---@return string
function M.statusline()
  local order, found = { ['needs you'] = 4, working = 3, stopped = 2, idle = 1 }, nil
  for _, client in ipairs(require('jp.client').all()) do
    local now = client.status ~= 'idle' and M.of_client(client) or nil
    if now and (not found or order[now] > order[found]) then
      found = now
    end
  end
  if not found then
    return ''
  end
  return 'JP ' .. (found == 'working' and spinner() .. ' working' or found == 'needs you' and '● needs you' or found)
end

--- A text that stands for itself in a statusline.
---@param text string
---@return string
local function literally(text)
  return (text:gsub('%%', '%%%%'))
end

--- A text that is cut at its end, where a statusline would cut its beginning.
---@param text string
---@param room integer cells
---@return string
local function shortened(text, room)
  if vim.fn.strdisplaywidth(text) <= room then
    return text
  end
  local count = vim.fn.strchars(text)
  while count > 0 and vim.fn.strdisplaywidth(vim.fn.strcharpart(text, 0, count)) >= room do
    count = count - 1
  end
  return vim.fn.strcharpart(text, 0, count) .. '…'
end

--- For the title line of a chat.
---@param chat jp.Chat
---@return string
function M.winbar(chat)
  local now = #require('jp.approval').of_chat(chat) > 0 and '%#JpQuestion#● needs you'
    or chat:running() and '%#JpSpinner#' .. spinner() .. ' working'
    or chat.client.status == 'stopped' and '%#JpFailed#the server is stopped'
    or ''
  local taken = vim.fn.strdisplaywidth((now:gsub('%%#%w+#', ''))) + 3 -- with the blanks around
  local name = shortened(chat:name(), vim.api.nvim_win_get_width(0) - taken)
  return (' %%#JpTitle#%s%%*%%=%s%%* '):format(literally(name), now)
end

--- For the title line of an input: what goes along with the next query.
---@param chat jp.Chat
---@return string
function M.input_winbar(chat)
  local words = {}
  for _, selection in ipairs(chat.selections) do
    table.insert(words, '+ ' .. selection.label)
  end
  for _, attachment in ipairs(chat.attachments) do
    table.insert(words, '+ ' .. attachment)
  end
  for _, setting in ipairs(chat.config) do
    table.insert(words, (setting:gsub('^assistant%.model%.id=', '')))
  end
  local right = '%#JpKey#<CR>%* sends '
  return (' %%#JpDetail#%s%%*%%=%s'):format(literally(table.concat(words, '  ')), right)
end

return M
