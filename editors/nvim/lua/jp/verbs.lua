--- What can be done with a stored conversation: each verb is a subcommand of `:Jp` for the chat at hand, and an
--- argument of `:Jp conversations` for one that is chosen from the list.

local conversations = require('jp.conversations')
local say = require('jp.say')
local work = require('jp.work')

local M = {}

local KEPT_TURNS = 2
local LONGEST_NAME = 40

---@class jp.Verb
---@field desc string
---@field run fun(target: jp.Target, words: string[])
---@field words string[]? what can stand behind it, for completion
---@field is_for_archived boolean? whether it is for those that were put away

---@param target jp.Target
---@return string
local function name_of(target)
  local name = conversations.name(target.client, target.conversation, target.title)
  if not name then
    return target.conversation
  end
  local short = vim.fn.strcharpart(name, 0, LONGEST_NAME) -- a message of two lines waits for a key
  return ('"%s%s"'):format(short, short == name and '' or '…')
end

--- Ask the server for a change, and go on when it is made.
---@param target jp.Target
---@param verb string
---@param params table<string, any>
---@param done fun(result: any)
local function change(target, verb, params, done)
  params = vim.tbl_extend('force', { conversation = target.conversation }, params)
  work.run(target.client, 'jp/conversation/' .. verb, params, function(problem, result)
    if problem then
      say.warn(problem.message)
    else
      done(result)
    end
  end)
end

--- A change that is told of by a sentence; `%s` is the name of the conversation.
---@param verb string
---@param params table<string, any>
---@param sentence string
---@return fun(target: jp.Target)
local function simply(verb, params, sentence)
  return function(target)
    change(target, verb, params, function()
      say.info(sentence:format(name_of(target)))
    end)
  end
end

--- Go on with the words that were given, or with a line that the user types.
---@param words string[]
---@param prompt string
---@param default string?
---@param done fun(text: string)
local function text_of(words, prompt, default, done)
  if #words > 0 then
    done(table.concat(words, ' '))
    return
  end
  vim.ui.input({ prompt = prompt, default = default }, function(text)
    if text and vim.trim(text) ~= '' then
      done(vim.trim(text))
    end
  end)
end

--- Labels to add and keys to take away, from words such as `area=tests`, `wip` and `-old`.
---@param words string[]
---@return { add: jp.NewLabel[]?, remove: string[]? }
function M.labels(words)
  local add, remove = {}, {}
  for _, word in ipairs(words) do
    local key, value = word:match('^([^=]+)=(.*)$')
    if vim.startswith(word, '-') then
      table.insert(remove, word:sub(2))
    else
      table.insert(add, { key = key or word, value = value })
    end
  end
  return { add = #add > 0 and add or nil, remove = #remove > 0 and remove or nil }
end

---@param target jp.Target
---@param words string[]
local function label(target, words)
  ---@param now jp.Label[]
  local function tell(now)
    local left = table.concat(vim.tbl_map(conversations.label, now), ', ')
    say.info(left == '' and 'no labels' or 'labels: ' .. left)
  end
  ---@param prompt string
  local function with(prompt)
    text_of(words, prompt, nil, function(text)
      change(target, 'labels', M.labels(vim.split(text, '%s+', { trimempty = true })), function(result)
        tell(result.labels)
      end)
    end)
  end
  if #words > 0 then
    with('')
    return
  end
  change(target, 'show', {}, function(shown)
    local now = table.concat(vim.tbl_map(conversations.label, shown.labels), ' ')
    with(('Labels%s (key, key=value, -key): '):format(now == '' and '' or ' beside ' .. now))
  end)
end

--- A time of the server's to read: its day and minute.
---@param time string as RFC 3339, UTC
---@return string
function M.time(time)
  return ('%s %s UTC'):format(time:sub(1, 10), time:sub(12, 16))
end

---@param target jp.Target
---@param words string[]
local function expire(target, words)
  text_of(words, 'Remove it after (2h, 3d, or `never`): ', nil, function(text)
    change(target, 'expiry', { expires = text ~= 'never' and text or nil }, function(result)
      local at = result.expiresAt and 'may be removed after ' .. M.time(result.expiresAt) or 'is kept'
      say.info(('%s %s'):format(name_of(target), at))
    end)
  end)
end

---@type table<string, { desc: string, is_local: boolean, done: string }>
local PLACES = {
  ['local'] = { desc = 'For you alone', is_local = true, done = 'is yours alone now' },
  workspace = { desc = 'In the workspace', is_local = false, done = 'is in the workspace now' },
}

---@param target jp.Target
---@param words string[]
local function move(target, words)
  local place = PLACES[words[1]]
  if place then
    simply('move', { ['local'] = place.is_local }, '%s ' .. place.done)(target)
    return
  end
  vim.ui.select({ 'local', 'workspace' }, {
    prompt = 'Where it is kept',
    kind = 'jp_place',
    format_item = function(name)
      return PLACES[name].desc
    end,
  }, function(name)
    if name then
      move(target, { name })
    end
  end)
end

--- Which turns a copy has: all, the `last` few, or those up to the one `here`.
---@param target jp.Target
---@param words string[]
---@return table<string, any>? params
---@return string? problem
function M.fork_params(target, words)
  if words[1] == nil then
    return {}
  elseif words[1] == 'here' then
    return target.turn and { firstTurns = target.turn }, 'put the cursor on a turn of the chat'
  end
  local count = words[1] == 'last' and tonumber(words[2] or '1')
  return count and { lastTurns = count } or nil, '`:Jp fork`, `:Jp fork last 3` or `:Jp fork here`'
end

---@param target jp.Target
---@param words string[]
local function fork(target, words)
  local params, problem = M.fork_params(target, words)
  if not params then
    say.warn(assert(problem))
    return
  end
  change(target, 'fork', params, function(copy)
    conversations.open(target.client, copy.conversation, copy.title)
    say.info(('this is a copy of %s'):format(name_of(target)))
  end)
end

--- Show the text in a buffer that is a file as soon as it is written.
---@param target jp.Target
---@param words string[]
local function export(target, words)
  local format = words[1] or 'markdown'
  change(target, 'export', { format = format }, function(result)
    local path = words[2] or result.name
    local is_there = vim.uv.fs_stat(path) ~= nil
    vim.cmd('botright split ' .. vim.fn.fnameescape(path))
    vim.api.nvim_buf_set_lines(0, 0, -1, true, vim.split(result.text:gsub('\n$', ''), '\n', { plain = true }))
    vim.bo.filetype = format
    say.info(is_there and '`:w` writes it over the file that is there' or '`:w` writes it')
  end)
end

---@class jp.Policy
---@field desc string
---@field params table<string, any>

---@type table<string, jp.Policy>
local POLICIES = {
  reasoning = { desc = 'Leave out reasoning', params = { reasoning = true, keepLast = KEPT_TURNS } },
  tools = {
    desc = 'Leave out what tools were given and said',
    params = { toolCalls = 'strip', keepLast = KEPT_TURNS },
  },
  both = {
    desc = 'Leave out reasoning, and what tools were given and said',
    params = { reasoning = true, toolCalls = 'strip', keepLast = KEPT_TURNS },
  },
  summary = { desc = 'Let a model sum it up', params = { summarize = vim.empty_dict(), keepLast = KEPT_TURNS } },
  rules = { desc = 'As the settings say', params = {} },
  reset = { desc = 'Show models all of it again', params = { reset = 'all' } },
}

local POLICY_NAMES = { 'reasoning', 'tools', 'both', 'summary', 'rules', 'reset' }

--- Turns in words.
---@param ranges jp.CompactionRange[]
---@return string
function M.ranges(ranges)
  local words = vim.tbl_map(function(range)
    if range.fromTurn == range.toTurn then
      return ('turn %d'):format(range.fromTurn)
    end
    return ('turns %d to %d'):format(range.fromTurn, range.toTurn)
  end, ranges)
  return table.concat(words, ' and ')
end

---@param target jp.Target
---@param words string[]
local function compact(target, words)
  ---@param name string
  local function with(name)
    change(target, 'compact', POLICIES[name].params, function(result)
      if name == 'reset' then
        say.info('models are shown all of it again')
      elseif #result.added > 0 then
        say.info(('models are shown %s in a shorter form'):format(M.ranges(result.added)))
      else
        say.info('there are no turns to compact; the last ones always stay whole')
      end
    end)
  end
  if POLICIES[words[1]] then
    with(words[1])
    return
  end
  vim.ui.select(POLICY_NAMES, {
    prompt = 'What models are shown',
    kind = 'jp_policy',
    format_item = function(name)
      return POLICIES[name].desc
    end,
  }, function(name)
    if name then
      with(name)
    end
  end)
end

---@type table<string, jp.Verb>
M.verbs = {
  use = {
    desc = 'Let queries that name no conversation go to this one',
    run = simply('use', {}, 'queries that name no conversation go to %s'),
  },
  rename = {
    desc = 'Give the conversation a title',
    run = function(target, words)
      text_of(words, 'Title: ', target.title, function(title)
        change(target, 'title', { title = title }, function() end)
      end)
    end,
  },
  label = { desc = 'Add labels to the conversation, or take some away', run = label },
  pin = { desc = 'Pin the conversation', run = simply('pin', { pinned = true }, '%s is pinned') },
  unpin = { desc = 'Unpin the conversation', run = simply('pin', { pinned = false }, '%s is not pinned') },
  expire = { desc = 'Say how long to keep the conversation', run = expire, words = { 'never', '1d', '7d', '30d' } },
  archive = {
    desc = 'Put the conversation away',
    run = simply('archive', {}, '%s is archived; `:Jp unarchive` brings it back'),
  },
  unarchive = {
    desc = 'Bring an archived conversation back',
    is_for_archived = true,
    run = function(target)
      change(target, 'unarchive', {}, function()
        conversations.open(target.client, target.conversation, target.title)
      end)
    end,
  },
  move = {
    desc = 'Keep the conversation for you alone, or in the workspace',
    run = move,
    words = { 'local', 'workspace' },
  },
  fork = { desc = 'Go on in a copy of the conversation', run = fork, words = { 'last', 'here' } },
  remove = {
    desc = 'Remove the conversation; it can be restored',
    run = simply('remove', {}, '%s is removed; `:Jp restore` takes it back'),
  },
  export = { desc = 'Write the conversation down', run = export, words = { 'markdown', 'json' } },
  compact = { desc = 'Show models a shorter form of the conversation', run = compact, words = POLICY_NAMES },
}

--- Do something with the conversation of a chat, or with one that is chosen where there is none.
---@param name string
---@param client jp.Client
---@param target jp.Target? taken from a chat; it is not archived
---@param words string[]
function M.apply(name, client, target, words)
  local verb = M.verbs[name]
  if target and not verb.is_for_archived then
    verb.run(target, words)
    return
  end
  local filter = verb.is_for_archived and { archived = true } or {}
  conversations.pick(client, verb.desc, filter, function(summary)
    verb.run({ client = client, conversation = summary.conversation, title = summary.title }, words)
  end)
end

--- Let the user choose among the removed conversations, and take one back.
---@param client jp.Client
function M.restore(client)
  client:request('jp/conversation/trash', {}, function(problem, result)
    if problem then
      say.warn(problem.message)
    elseif #result.conversations == 0 then
      say.info('no conversation was removed')
    else
      vim.ui.select(result.conversations, {
        prompt = 'Restore',
        kind = 'jp_trash',
        format_item = function(trashed)
          local words = { trashed.removedAt:sub(1, 10), trashed.conversation }
          table.insert(words, conversations.name(client, trashed.conversation, trashed.title))
          return table.concat(words, '  ')
        end,
      }, function(trashed)
        if trashed then
          local target = { client = client, conversation = trashed.conversation, title = trashed.title }
          change(target, 'restore', {}, function()
            conversations.open(client, trashed.conversation, trashed.title)
          end)
        end
      end)
    end
  end)
end

return M
