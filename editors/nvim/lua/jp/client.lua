--- One server and what is asked of it: starting, restarting, requests, and chunks on their way to whoever asked.
---
--- There is one client for each workspace root. `client:stream` is the heart: it mints a token, sends a request
--- that is answered with chunks, and promises that `done` is called exactly once, also when the server dies.

local config = require('jp.config')
local questions = require('jp.questions')
local say = require('jp.say')
local server = require('jp.server')

local M = {}

---@alias jp.ServerStatus
---| 'idle' # not started yet
---| 'starting'
---| 'ready'
---| 'stopped' # it was stopped, or died too often

---@class jp.Problem
---@field message string
---@field code? jp.ErrorCode|'server_gone'|'not_offered'
---@field origin? string
---@field draft? string

---@class jp.Stream
---@field take fun(chunk: jp.Chunk)
---@field done fun(problem: jp.Problem?, result: any)

---@class jp.Expected
---@field at integer in milliseconds
---@field call_id string? the call that the question will be about

---@class jp.Client
---@field root string
---@field status jp.ServerStatus
---@field lsp vim.lsp.Client?
---@field methods table<string, boolean> what the server answers
---@field version string?
---@field questions jp.Question[] open questions, oldest first
---@field announced table<string, jp.PromptOpenChunk> what is known of questions that have not come yet, by id
---@field expected jp.Expected? set when the user did something that leads to a question
---@field chats table<integer, jp.Chat> by buffer
---@field recent jp.Chat? the chat that was used last
---@field private streams table<string, jp.Stream>
---@field private waiting fun(problem: jp.Problem?)[] who waits until the server is ready
---@field private deaths integer[] when it died, in milliseconds
---@field private is_wanted boolean whether a death is one to mend
---@field private count integer
local Client = {}
Client.__index = Client

---@type table<string, jp.Client>
local clients = {}

local PROMPT_KINDS = { 'menu', 'approval', 'pick', 'text', 'secret', 'edit' }
local DEATHS_WITHIN_MS = 60000

-- Finding a client.

--- The root of the workspace that a buffer belongs to, or that the current folder is in.
---@param buffer integer?
---@return string
function M.root_of(buffer)
  local name = buffer and vim.bo[buffer].buftype == '' and vim.api.nvim_buf_get_name(buffer) or ''
  local markers = config.options.root_markers
  local cwd = assert(vim.uv.cwd())
  local from = name ~= '' and vim.fs.root(name, markers) or vim.fs.root(cwd, markers)
  return vim.fs.normalize(from or cwd)
end

--- The client of a root; it is made when it does not exist, and starts when it is first needed.
---@param root string?
---@return jp.Client
function M.of(root)
  root = root or M.root_of(vim.api.nvim_get_current_buf())
  if not clients[root] then
    clients[root] = setmetatable({
      root = root,
      status = 'idle',
      methods = {},
      questions = {},
      announced = {},
      chats = {},
      streams = {},
      waiting = {},
      deaths = {},
      is_wanted = true,
      count = 0,
    }, Client)
  end
  return clients[root]
end

--- The client that a command is for: that of the chat where the cursor is, else that of the file.
---@return jp.Client
function M.here()
  local chat = package.loaded['jp.chat.buffer'] and require('jp.chat.buffer').here()
  return chat and chat.client or M.of()
end

--- The client that an answer is for: the one where the cursor is, unless only another asks something.
---@return jp.Client
function M.asking()
  local here = M.here()
  return #here.questions > 0 and here
    or vim.iter(M.all()):find(function(client)
      return #client.questions > 0
    end)
    or here
end

--- All clients there are.
---@return jp.Client[]
function M.all()
  return vim.tbl_values(clients)
end

---@param client_id integer
---@return jp.Client?
local function by_id(client_id)
  for _, client in pairs(clients) do
    if client.lsp and client.lsp.id == client_id then
      return client
    end
  end
end

-- What the server sends.

---@type table<string, lsp.Handler>
local handlers = {}

local default_progress = vim.lsp.handlers['$/progress']

handlers['$/progress'] = function(problem, params, context, ...)
  local client = by_id(context.client_id)
  local stream = client and client.streams[params.token]
  if client and stream then
    client:take(stream, params.value)
  else
    return default_progress(problem, params, context, ...)
  end
end

handlers['jp/prompt'] = function(_, params, context)
  return questions.ask(assert(by_id(context.client_id)), params)
end

handlers['window/showMessageRequest'] = function(_, params, context)
  return questions.ask_message(assert(by_id(context.client_id)), params)
end

handlers['jp/notice'] = function(_, params, context)
  local levels = { info = vim.log.levels.INFO, warning = vim.log.levels.WARN, error = vim.log.levels.ERROR }
  vim.schedule(function()
    vim.notify('jp: ' .. params.text, levels[params.level])
    say.event('Notice', { root = assert(by_id(context.client_id)).root, notice = params })
  end)
end

handlers['jp/conversationChanged'] = function(_, params, context)
  local client = assert(by_id(context.client_id))
  vim.schedule(function()
    for _, chat in pairs(client.chats) do
      if chat.conversation == params.conversation then
        chat:conversation_changed(params)
      end
    end
    say.event('ConversationChanged', { root = client.root, change = params })
  end)
end

--- Commands of the server's that are run here, so that the answer comes into a chat.
---@type table<string, fun(command: lsp.Command, context: table)>
local commands = {}

commands['jp.query'] = function(command, context)
  local asked = command.arguments and command.arguments[1] or {}
  local client = assert(by_id(context.client_id))
  require('jp.query_document').ask(client, type(asked) == 'string' and { text = asked } or asked)
end

-- Starting and ending.

--- Start the process. Its end is told to us alone, because Neovim would report it in words of its own.
---@param dispatchers vim.lsp.rpc.Dispatchers
---@param lsp vim.lsp.ClientConfig
---@return vim.lsp.rpc.PublicClient
local function start_process(dispatchers, lsp)
  local client = M.of(vim.fs.normalize(assert(lsp.root_dir)))
  client.status = 'starting'
  local found = server.find(client.root, config.options.cmd)
  if not found then
    error(server.missing_message(), 0)
  end
  local listening = setmetatable({
    on_exit = function(code, signal)
      vim.schedule(function()
        client:ended(code, signal)
      end)
      dispatchers.on_exit(0, 0)
    end,
  }, { __index = dispatchers })
  return vim.lsp.rpc.start(found.argv, listening, { cwd = client.root, env = config.options.env })
end

--- What `vim.lsp.start` and `vim.lsp.enable` are given.
---@return vim.lsp.Config
function M.lsp_config()
  local settings = vim.deepcopy(config.options.settings)
  return {
    name = 'jp',
    cmd = start_process,
    root_dir = function(buffer, on_dir)
      on_dir(M.root_of(buffer))
    end,
    handlers = handlers,
    commands = commands,
    init_options = { jp = vim.tbl_isempty(settings) and vim.empty_dict() or settings },
    capabilities = vim.tbl_deep_extend('force', vim.lsp.protocol.make_client_capabilities(), {
      experimental = {
        jp = {
          prompt = { kinds = PROMPT_KINDS },
          interruptMenu = true,
          chunks = false,
          openDocument = true,
        },
      },
    }),
    on_attach = function(lsp, buffer)
      require('jp.query_document').show_lens(lsp, buffer)
    end,
    on_init = function(lsp)
      M.of(vim.fs.normalize(assert(lsp.root_dir))):began(lsp)
    end,
  }
end

--- Start the server, unless it runs.
function Client:start()
  self.is_wanted = true
  if self.status == 'starting' or self.status == 'ready' then
    return
  end
  local found = server.find(self.root, config.options.cmd)
  if not found then
    self:fail(server.missing_message())
    return
  end
  self.status = 'starting'
  local lsp_config = M.lsp_config()
  lsp_config.root_dir = self.root
  local ok, id = pcall(vim.lsp.start, lsp_config, { attach = false, silent = true })
  if not ok or not id then
    self:fail(('the server `%s` cannot be started: %s'):format(found.argv[1], ok and 'see `:Jp log`' or id))
    return
  end
  self.lsp = vim.lsp.get_client_by_id(id)
end

--- Start the server because a file was opened that it helps with. Nobody has asked for it, so nothing is said
--- where it is missing, and one that was stopped stays so.
function Client:start_for_file()
  if self.is_wanted and server.find(self.root, config.options.cmd) then
    self:start()
  end
end

--- Start the server whatever happened before.
function Client:revive()
  self.deaths = {}
  self:start()
end

---@param message string
---@package
function Client:fail(message)
  self.status = 'stopped'
  say.fail(message)
  self:release({ message = message, code = 'server_gone' })
  say.event('ServerStopped', { root = self.root, message = message })
end

--- The server has answered `initialize`.
---@param lsp vim.lsp.Client
---@package
function Client:began(lsp)
  self.lsp = lsp
  self.status = 'ready'
  self.version = vim.tbl_get(lsp, 'server_info', 'version')
  self.methods = {}
  for _, method in ipairs(vim.tbl_get(lsp.server_capabilities, 'experimental', 'jp', 'methods') or {}) do
    self.methods[method] = true
  end
  require('jp.documents').follow(self)
  self:release(nil)
  for _, chat in pairs(self.chats) do
    chat:server_returned()
  end
  say.event('ServerStarted', { root = self.root, version = self.version })
end

---@param problem jp.Problem?
---@package
function Client:release(problem)
  local waiting = self.waiting
  self.waiting = {}
  for _, go_on in ipairs(waiting) do
    go_on(problem)
  end
end

--- The process is gone. One that died is started again, unless that has happened too often.
---@param code integer
---@param signal integer
---@package
function Client:ended(code, signal)
  local was_ready = self.status == 'ready'
  local streams = self.streams
  self.status, self.lsp, self.streams = 'stopped', nil, {}
  questions.forget_all(self)
  local how = signal ~= 0 and ('by signal %d'):format(signal) or ('with exit code %d'):format(code)
  for _, stream in pairs(streams) do
    stream.done({ message = ('The server ended %s.'):format(how), code = 'server_gone' }, nil)
  end
  if vim.v.exiting ~= vim.NIL then
    return
  end
  if not self.is_wanted then
    self:release({ message = 'The server was stopped.', code = 'server_gone' })
    say.event('ServerStopped', { root = self.root })
    return
  end
  self:mend(how, was_ready)
end

---@param how string
---@param was_ready boolean
---@private
function Client:mend(how, was_ready)
  local now = vim.uv.now()
  self.deaths = vim.tbl_filter(function(at)
    return now - at < DEATHS_WITHIN_MS
  end, self.deaths)
  table.insert(self.deaths, now)
  if #self.deaths > config.options.restarts then
    self:fail(
      ('the server ended %s, %d times in a minute, and is left stopped: `:Jp log`, `:Jp start`'):format(
        how,
        #self.deaths
      )
    )
    return
  end
  if was_ready then
    say.warn(('the server ended %s and is started again'):format(how))
  end
  self:start()
end

--- Stop the server; the queries that run are stored first.
function Client:stop()
  self.is_wanted = false
  if self.lsp then
    self.lsp:stop()
  end
end

-- Asking.

--- Call back as soon as the server can be asked, or with the reason why it cannot.
---@param go_on fun(problem: jp.Problem?)
function Client:when_ready(go_on)
  if self.status == 'ready' then
    go_on(nil)
    return
  end
  table.insert(self.waiting, go_on)
  self:start()
end

--- Whether the server answers a method; before it has started nobody knows, and it counts as answered.
---@param method string
---@return boolean
function Client:offers(method)
  return self.status ~= 'ready' or self.methods[method] == true
end

---@param error lsp.ResponseError
---@return jp.Problem
local function to_problem(error)
  local data = type(error.data) == 'table' and error.data or {}
  local message = error.message:gsub('^Invalid params for [%w/]+: ', '') -- users know no methods
  return { message = message, code = data.code, origin = data.origin, draft = data.draft }
end

--- Send a request, once the server is ready. `done` is called once; an error comes as its first argument.
---@param method string
---@param params table<string, any>
---@param done fun(problem: jp.Problem?, result: any)
function Client:request(method, params, done)
  self:stream(method, params, function() end, done)
end

--- Send a request whose chunks come on a token of its own.
---@param method string
---@param params table<string, any>
---@param take fun(chunk: jp.Chunk)
---@param done fun(problem: jp.Problem?, result: any)
---@return string token
function Client:stream(method, params, take, done)
  self.count = self.count + 1
  local token = ('nvim/%d/%d'):format(vim.uv.os_getpid(), self.count)
  ---@param problem jp.Problem?
  ---@param result any
  local function finish(problem, result)
    self.streams[token] = nil
    done(problem, result)
  end
  self:when_ready(function(problem)
    if problem then
      done(problem, nil)
    elseif not self.methods[method] then
      local message = ('`%s` is not offered by this server%s.'):format(
        method,
        self.version and (' (%s)'):format(self.version) or ''
      )
      done({ message = message, code = 'not_offered' }, nil)
    else
      self:send(method, params, token, { take = take, done = finish })
    end
  end)
  return token
end

--- End a request whose answer will not come.
---@param token string
---@param problem jp.Problem
function Client:give_up(token, problem)
  local stream = self.streams[token]
  if stream then
    stream.done(problem, nil)
  end
end

--- Their token is that of their progress.
local WORKING = { ['jp/conversation/compact'] = true }
local STREAMING = { ['jp/query'] = true, ['jp/conversation/render'] = true }

---@param method string
---@param params table<string, any>
---@param token string
---@param stream jp.Stream
---@private
function Client:send(method, params, token, stream)
  self.streams[token] = stream
  if STREAMING[method] then
    params = vim.tbl_extend('force', params, { partialResultToken = token })
  elseif WORKING[method] then
    params = vim.tbl_extend('force', params, { workDoneToken = token })
  elseif vim.tbl_isempty(params) then
    params = vim.empty_dict()
  end
  local sent = assert(self.lsp):request(method, params, function(error, result)
    if self.streams[token] then
      stream.done(error and to_problem(error) or nil, result)
    end
  end)
  if not sent then
    stream.done({ message = 'The server does not take requests any more.', code = 'server_gone' }, nil)
  end
end

--- A chunk came. What it says about questions is true for all of the client.
---@param stream jp.Stream
---@param chunk jp.Chunk
---@package
function Client:take(stream, chunk)
  if chunk.type == 'prompt_open' then
    questions.place(self, chunk)
  elseif chunk.type == 'prompt_closed' then
    questions.closed(self, chunk.decisionId)
  end
  stream.take(chunk)
end

return M
