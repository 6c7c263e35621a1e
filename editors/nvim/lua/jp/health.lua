--- `:checkhealth jp`

local M = {}

local PATIENCE_MS = 20000

---@param argv string[]
---@param root string
---@return vim.SystemCompleted?
local function run(argv, root)
  local ok, process = pcall(vim.system, argv, { text = true, cwd = root, env = require('jp.config').options.env })
  return ok and process:wait(PATIENCE_MS) or nil
end

local function check_neovim()
  vim.health.start('Neovim')
  local version = tostring(vim.version())
  if vim.fn.has('nvim-0.11') == 1 then
    vim.health.ok('version ' .. version)
  else
    vim.health.error('version ' .. version .. ' is too old', { 'Install Neovim 0.11 or newer.' })
  end
  if pcall(vim.treesitter.language.inspect, 'markdown') then
    vim.health.ok('a Markdown parser')
  else
    vim.health.warn(
      'there is no Markdown parser',
      { 'Chats are shown without colours; `:checkhealth vim.treesitter`.' }
    )
  end
end

local function check_options()
  vim.health.start('Options')
  local changed = {}
  local config = require('jp.config')
  for name, value in vim.spairs(config.options) do
    if not vim.deep_equal(value, config.defaults[name]) then
      table.insert(changed, ('`%s = %s`'):format(name, vim.inspect(value, { newline = ' ', indent = '' })))
    end
  end
  vim.health.ok(#changed > 0 and 'set: ' .. table.concat(changed, ', ') or 'all have their defaults')
end

---@param root string
---@return jp.Found?
local function check_server(root)
  vim.health.start('Server')
  local server = require('jp.server')
  local found, looked = server.find(root, require('jp.config').options.cmd)
  if not found then
    vim.health.error('not found: looked at ' .. table.concat(looked, ' and '), {
      ('Install it: `%s`'):format(server.install_command()),
      'Or name it in the option `cmd`: `require("jp").setup({ cmd = { "/path/to/jp-lsp" } })`',
    })
    return nil
  end
  vim.health.ok(('found by %s: `%s`'):format(found.where, table.concat(found.argv, ' ')))
  local version = run(vim.list_extend(M.base(found.argv), { '--version' }), root)
  if version and version.code == 0 then
    vim.health.ok('version ' .. vim.trim(version.stdout))
  else
    vim.health.error('it does not tell its version: ' .. vim.trim(version and version.stderr or 'no answer'), {
      ('Install it anew: `%s`'):format(server.install_command()),
    })
    return nil
  end
  return found
end

--- The command line without the subcommand that serves.
---@param argv string[]
---@return string[]
function M.base(argv)
  local base = {}
  for _, word in ipairs(argv) do
    if word == 'serve' then
      break
    end
    table.insert(base, word)
  end
  return base
end

--- Report a line of `jp-lsp doctor` as what it is.
---@param line string
function M.report(line)
  local text = vim.trim(line)
  if line:match(' cannot begin') or line:match(', but cannot') or text:match('^error: ') then
    vim.health.error(text)
  elseif text:match('^warning: ') then
    vim.health.warn(text)
  elseif text:match('^%S+%s+ready') or text:match('^Ready') then
    vim.health.ok(text)
  else
    vim.health.info(text)
  end
end

--- What `jp-lsp doctor` says.
---@param found jp.Found
---@param root string
local function check_setup(found, root)
  vim.health.start('Workspace and providers')
  local told = run(vim.list_extend(M.base(found.argv), { 'doctor', root }), root)
  if not told or told.stdout == '' then
    vim.health.warn('`jp-lsp doctor` gave no answer: ' .. vim.trim(told and told.stderr or ''))
    return
  end
  local is_ready = told.code == 0
  for line in vim.gsplit(told.stdout, '\n', { trimempty = true }) do
    if line ~= '' then
      M.report(line)
    end
  end
  if not is_ready then
    vim.health.warn('A query here would not reach a model.', { 'Set the key of a vendor, or `jp-lsp local install`.' })
  end
end

---@param root string
local function check_running(root)
  vim.health.start('This session')
  local client = package.loaded['jp.client'] and require('jp.client').of(root)
  if not client or client.status == 'idle' then
    vim.health.info('The server was not started yet; it starts with the first query.')
    return
  end
  if client.status ~= 'ready' then
    vim.health.warn('The server is ' .. client.status, { '`:Jp start` starts it, `:Jp log` shows why it ended.' })
    return
  end
  vim.health.ok(('the server runs for `%s`'):format(client.root))
  local explanation, problem
  client:request(
    'jp/query',
    { text = 'Hello', conversation = 'new', explain = true, persist = false },
    function(failed, result)
      problem, explanation = failed, result and result.explanation
    end
  )
  vim.wait(PATIENCE_MS, function()
    return problem ~= nil or explanation ~= nil
  end)
  M.report_tools(problem, explanation)
end

--- Which tools are offered, and which MCP servers answered for theirs.
---@param problem jp.Problem?
---@param explanation jp.QueryExplanation?
function M.report_tools(problem, explanation)
  if not explanation then
    local advice = problem and problem.origin and { 'Look at ' .. problem.origin } or nil
    vim.health.error(problem and problem.message or 'the server does not answer', advice)
    return
  end
  local by_server = {}
  for _, tool in ipairs(explanation.tools) do
    local place = tool.server and ('MCP server %s'):format(tool.server) or tool.source .. ' tools'
    by_server[place] = by_server[place] or {}
    table.insert(by_server[place], tool.name)
  end
  for place, names in vim.spairs(by_server) do
    vim.health.ok(('%s: %s'):format(place, table.concat(names, ', ')))
  end
  for _, tool in ipairs(explanation.droppedTools) do
    vim.health.warn(('%s is not offered: %s'):format(tool.name, tool.reason))
  end
  if #explanation.tools + #explanation.droppedTools == 0 then
    vim.health.info('No tools are enabled.')
  end
end

function M.check()
  local root = require('jp.client').root_of()
  check_neovim()
  check_options()
  local found = check_server(root)
  if found then
    check_setup(found, root)
    check_running(root)
  end
end

return M
