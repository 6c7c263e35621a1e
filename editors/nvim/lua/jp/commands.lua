--- The subcommands of `:Jp`.

local jp = require('jp')
local say = require('jp.say')
local verbs = require('jp.verbs')

local M = {}

---@class jp.Call
---@field words string[] what stands behind the subcommand
---@field rest string the same as one text
---@field range [integer, integer]? the lines that were given

---@class jp.Subcommand
---@field desc string
---@field run fun(call: jp.Call)
---@field complete? fun(lead: string, words: string[]): string[]

---@return jp.Client
local function client()
  return require('jp.client').here()
end

---@return jp.Client
local function asking()
  return require('jp.client').asking()
end

--- The chat that a command is for; there may be none.
---@return jp.Chat?
local function current()
  return require('jp.chat.buffer').current(client())
end

--- Do something with the chat, or say that there is none.
---@param act fun(chat: jp.Chat)
local function with_chat(act)
  local chat = current()
  if chat then
    act(chat)
  else
    say.info('there is no chat yet; `:Jp ask` begins one')
  end
end

---@return jp.Chat
local function chat_or_new()
  return current() or require('jp.chat.buffer').new(client())
end

---@param action string
---@return fun()
local function interrupt(action)
  return function()
    with_chat(function(chat)
      require('jp.interrupt').act(chat, action)
    end)
  end
end

--- What the open question can be answered with.
---@return string[]
local function action_ids()
  local open = require('jp.approval').current(asking())
  return vim.tbl_map(function(action)
    return action.id
  end, open and open.params.actions or {})
end

---@param lead string
---@return string[]
local function files(lead)
  return vim.fn.getcompletion(lead, 'file')
end

---@type table<string, jp.Subcommand>
M.subcommands = {
  ask = {
    desc = 'Ask; with a range, about these lines',
    run = function(call)
      if call.range then
        jp.select(0, call.range[1], call.range[2])
      end
      jp.ask(call.rest)
    end,
  },
  chat = {
    desc = 'Show the chat that was used last, the `last` conversation, or one by its id',
    run = function(call)
      jp.chat(call.words[1])
    end,
    complete = function()
      return { 'last', 'new' }
    end,
  },
  new = {
    desc = 'Begin a conversation',
    run = function(call)
      local chat = require('jp.chat.buffer').new(client())
      if call.rest ~= '' then
        chat:show()
        chat:ask(call.rest)
      else
        chat:write()
      end
    end,
  },
  conversations = {
    desc = 'Choose a conversation of this workspace, to show it or to do something with it',
    run = function(call)
      local name = call.words[1]
      if not name then
        require('jp.conversations').choose(client())
      elseif verbs.verbs[name] then
        verbs.apply(name, client(), nil, vim.list_slice(call.words, 2))
      else
        say.warn(('nothing is called `%s` that can be done with a conversation'):format(name))
      end
    end,
    complete = function(_, words)
      if #words <= 2 then
        return vim.tbl_keys(verbs.verbs)
      end
      return verbs.verbs[words[2]] and verbs.verbs[words[2]].words or {}
    end,
  },
  search = {
    desc = 'Look for a text in all conversations',
    run = function(call)
      if call.rest ~= '' then
        require('jp.search').run(client(), call.rest)
        return
      end
      vim.ui.input({ prompt = 'Look for: ' }, function(text)
        if text and text ~= '' then
          require('jp.search').run(client(), text)
        end
      end)
    end,
  },
  restore = {
    desc = 'Take a removed conversation back',
    run = function()
      verbs.restore(client())
    end,
  },
  cancel = {
    desc = 'Cancel what the server works on beside answers, such as a summary',
    run = function()
      require('jp.work').cancel(client())
    end,
  },
  document = {
    desc = 'Write a query in a file',
    run = function(call)
      require('jp.query_document').open(client(), call.rest)
    end,
    complete = files,
  },
  send = {
    desc = 'Ask the query that is written in this file',
    run = function()
      require('jp.query_document').send(client(), vim.api.nvim_get_current_buf())
    end,
  },
  actions = {
    desc = 'Choose what to ask about the diagnostics of this line; with a range, about these lines',
    run = function(call)
      require('jp.query_document').actions(client(), call.range)
    end,
  },
  interrupt = {
    desc = 'Open the menu of the running answer',
    run = function()
      with_chat(require('jp.interrupt').press)
    end,
  },
  stop = { desc = 'Stop the answer, and keep what came', run = interrupt('stop') },
  abort = { desc = 'Stop the answer, and discard it', run = interrupt('abort') },
  continue = { desc = 'Go on after an interrupt', run = interrupt('continue') },
  restart = { desc = 'Run the tools of this moment again', run = interrupt('restart') },
  reply = {
    desc = 'Stop the answer and reply to it',
    run = function(call)
      with_chat(function(chat)
        if call.rest ~= '' then
          require('jp.interrupt').reply(chat, call.rest)
          return
        end
        vim.ui.input({ prompt = 'Your reply: ' }, function(text)
          if text and text ~= '' then
            require('jp.interrupt').reply(chat, text)
          end
        end)
      end)
    end,
  },
  answer = {
    desc = 'Answer the open question',
    run = function(call)
      require('jp.approval').answer(asking(), call.rest ~= '' and call.rest or nil)
    end,
    complete = action_ids,
  },
  approve = {
    desc = 'Let the tool run that is asked about',
    run = function()
      require('jp.approval').answer(asking(), 'run')
    end,
  },
  skip = {
    desc = 'Do not let the tool run that is asked about',
    run = function()
      require('jp.approval').answer(asking(), 'skip')
    end,
  },
  edit = {
    desc = 'Edit the arguments of the call that is asked about',
    run = function()
      require('jp.approval').answer(asking(), 'edit')
    end,
  },
  dismiss = {
    desc = 'Close the open question without an answer',
    run = function()
      require('jp.approval').dismiss(asking())
    end,
  },
  diff = {
    desc = 'Show what a call would change',
    run = function()
      require('jp.diff').show_current(asking())
    end,
  },
  resume = {
    desc = 'Go on with a turn that was cut off',
    run = function()
      with_chat(function(chat)
        chat:resume()
      end)
    end,
  },
  turn = {
    desc = 'Ask the turn under the cursor again, change what you said in it, or remove it',
    run = function(call)
      with_chat(function(chat)
        local text = table.concat(vim.list_slice(call.words, 2), ' ')
        require('jp.turns').apply(chat, call.words[1], text)
      end)
    end,
    complete = function(_, words)
      return #words <= 2 and require('jp.turns').names or {}
    end,
  },
  model = {
    desc = 'Choose the model, from the next query on',
    run = function(call)
      local choices = require('jp.choices')
      if call.rest ~= '' then
        choices.use_model(chat_or_new(), call.rest)
      else
        choices.choose_model(chat_or_new())
      end
    end,
  },
  persona = {
    desc = 'Choose a persona, or another named configuration, for the next query',
    run = function(call)
      local choices = require('jp.choices')
      if call.rest ~= '' then
        choices.use_persona(chat_or_new(), call.rest)
      else
        choices.choose_persona(chat_or_new())
      end
    end,
    complete = function()
      return require('jp.choices').persona_files(client().root)
    end,
  },
  attach = {
    desc = 'Show a file or an address to the model with the next query; without a name this file',
    run = function(call)
      local word = call.rest ~= '' and call.rest or '%'
      local chat = chat_or_new()
      local attachment, problem = require('jp.context').attachment(word, chat.client.root)
      if attachment then
        table.insert(chat.attachments, attachment)
        vim.cmd.redrawstatus({ bang = true })
      else
        say.warn(assert(problem))
      end
    end,
    complete = files,
  },
  detach = {
    desc = 'Take nothing along with the next query',
    run = function()
      with_chat(function(chat)
        chat.attachments, chat.selections, chat.config = {}, {}, {}
        vim.cmd.redrawstatus({ bang = true })
      end)
    end,
  },
  explain = {
    desc = 'Show what a query would send, or with `config` where settings come from',
    run = function(call)
      local explain = require('jp.explain')
      if call.words[1] == 'config' then
        explain.config(client(), call.words[2])
      else
        explain.query(chat_or_new(), call.rest)
      end
    end,
    complete = function(_, words)
      return #words <= 2 and { 'config' } or words[2] == 'config' and require('jp.settings').keys(client()) or {}
    end,
  },
  config = {
    desc = 'Show the value of a setting',
    run = function(call)
      require('jp.settings').show(client(), current(), call.words[1])
    end,
    complete = function(_, words)
      return #words <= 2 and require('jp.settings').keys(client()) or {}
    end,
  },
  set = {
    desc = 'Change a setting in a file that you choose',
    run = function(call)
      if call.rest:find('=', 1, true) then
        require('jp.settings').change(client(), current(), { config = { call.rest } })
      else
        say.info('`:Jp set assistant.name=Ada`; `+=` adds to a list')
      end
    end,
    complete = function(_, words)
      return #words <= 2 and require('jp.settings').keys(client()) or {}
    end,
  },
  unset = {
    desc = 'Take a setting out of a file that you choose',
    run = function(call)
      if call.words[1] then
        require('jp.settings').change(client(), current(), { unset = call.words })
      else
        say.info('`:Jp unset assistant.name`')
      end
    end,
    complete = function()
      return require('jp.settings').keys(client())
    end,
  },
  start = {
    desc = 'Start the server',
    run = function()
      client():revive()
    end,
  },
  shutdown = {
    desc = 'Stop the server; what runs is stored first',
    run = function()
      client():stop()
    end,
  },
  log = {
    desc = "Open the server's log",
    run = function()
      require('jp.scratch').log()
    end,
  },
}

for name, verb in pairs(verbs.verbs) do
  M.subcommands[name] = {
    desc = verb.desc,
    run = function(call)
      local chat = current()
      verbs.apply(name, client(), require('jp.conversations').target(chat), call.words)
    end,
    complete = function(_, words)
      return #words <= 2 and verb.words or {}
    end,
  }
end

--- Run `:Jp`.
---@param command vim.api.keyset.create_user_command.command_args
function M.run(command)
  local name = command.fargs[1] or 'chat'
  local subcommand = M.subcommands[name]
  if not subcommand then
    say.warn(('there is no `:Jp %s`; <Tab> shows what there is'):format(name))
    return
  end
  local ok, problem = xpcall(subcommand.run, debug.traceback, {
    words = vim.list_slice(command.fargs, 2),
    rest = vim.trim(command.args:sub(#name + 1)),
    range = command.range > 0 and { command.line1, command.line2 } or nil,
  })
  if not ok then
    say.fail(('`:Jp %s` broke; please report this: %s'):format(name, problem))
  end
end

--- Complete `:Jp`.
---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local words = vim.split(line:gsub('^.-Jp%s+', ''), '%s+')
  local found
  if #words <= 1 then
    found = vim.tbl_keys(M.subcommands)
  else
    local subcommand = M.subcommands[words[1]]
    found = subcommand and subcommand.complete and subcommand.complete(lead, words) or {}
  end
  found = vim.tbl_filter(function(each)
    return vim.startswith(each, lead)
  end, found)
  table.sort(found)
  return found
end

return M
