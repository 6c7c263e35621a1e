--- Settings: their keys, their values, and which of them stands under the cursor.

local say = require('jp.say')

local M = {}

local PATIENCE_MS = 1000

--- A value as it could stand in a file.
---@param value any
---@return string
function M.written(value)
  return (vim.json.encode(value):gsub('\\/', '/'))
end

--- Go through a value and all that is in it, by dotted keys.
---@param value any
---@param key string
---@param visit fun(key: string, value: any, has_more: boolean)
local function walk(value, key, visit)
  local has_more = type(value) == 'table' and not vim.islist(value)
  if key ~= '' then
    visit(key, value, has_more)
  end
  for name, inner in vim.spairs(has_more and value or {}) do
    walk(inner, key == '' and name or ('%s.%s'):format(key, name), visit)
  end
end

--- A value as lines, each with a dotted key, as a TOML file could have them.
---@param value any
---@param key string? where it stands
---@return string[]
function M.lines(value, key)
  local lines = {}
  walk(value, key or '', function(name, inner, has_more)
    if not has_more then
      table.insert(lines, ('%s = %s'):format(name, M.written(inner)))
    end
  end)
  return lines
end

--- Show a value: a short one as a message, others in a window of their own.
---@param client jp.Client
---@param chat jp.Chat? whose conversation has settings of its own
---@param key string? all of them, when there is none
function M.show(client, chat, key)
  local conversation = chat and chat.conversation
  client:request('jp/config/get', { key = key, conversation = conversation }, function(problem, result)
    if problem then
      say.warn(problem.message)
      return
    end
    local lines = M.lines(result.value, key)
    if #lines > 1 then
      require('jp.scratch').read(key or 'configuration', table.concat(lines, '\n'), 'toml')
    else
      say.info(lines[1] and result.value ~= nil and lines[1] or ('`%s` is not set'):format(key))
    end
    for _, each in ipairs(result.problems) do
      if each.severity == 'error' then
        say.warn(each.text)
      end
    end
  end)
end

local TARGETS = {
  { name = 'workspace', desc = 'This workspace, for everybody who works in it' },
  { name = 'user_workspace', desc = 'Me, in this workspace' },
  { name = 'user_global', desc = 'Me, in all workspaces' },
}

--- What has come of a change.
---@param result jp.ConfigSetResult
---@return string
function M.outcome(result)
  local words = vim.tbl_map(function(setting)
    local value = setting.value ~= nil and ('is %s'):format(M.written(setting.value)) or 'is not set'
    if setting.state == 'shadowed' then
      return ('%s still %s, because of %s'):format(setting.key, value, setting.place.name)
    end
    return ('%s %s now'):format(setting.key, value)
  end, result.settings)
  table.insert(words, result.written == 'document' and ('save %s'):format(result.name) or nil)
  table.insert(words, result.unread)
  return table.concat(words, '; ')
end

--- Change settings in a file that the user chooses, and say what has come of it.
---@param client jp.Client
---@param chat jp.Chat? whose conversation the change is told for
---@param change { config: string[]?, unset: string[]? } expressions as `--cfg` takes them, or keys to take away
function M.change(client, chat, change)
  vim.ui.select(TARGETS, {
    prompt = 'For whom',
    kind = 'jp_config',
    format_item = function(target)
      return target.desc
    end,
  }, function(target)
    if not target then
      return
    end
    local params = vim.tbl_extend('error', { target = target.name, conversation = chat and chat.conversation }, change)
    client:request('jp/config/set', params, function(problem, result)
      if problem then
        say.warn(problem.message)
      else
        say.info(M.outcome(result))
        vim.cmd.checktime()
      end
    end)
  end)
end

--- All keys that have a value, for completion; none while the server does not run.
---@param client jp.Client
---@return string[]
function M.keys(client)
  if client.status ~= 'ready' then
    return {}
  end
  local answer = assert(client.lsp):request_sync('jp/config/get', vim.empty_dict(), PATIENCE_MS)
  local keys = {}
  walk(answer and answer.result and answer.result.value, '', function(key)
    table.insert(keys, key)
  end)
  return keys
end

--- The setting that a hover of the server describes.
---@param hover lsp.Hover?
---@return string?
function M.key_of(hover)
  local text = vim.tbl_get(hover or {}, 'contents', 'value')
  return type(text) == 'string' and text:match('^%*%*`+ ?(.-) ?`+%*%*') or nil
end

--- Find the setting under the cursor. The server knows it in every format of configuration files.
---@param client jp.Client
---@param done fun(key: string?) without one where no setting stands
function M.key_here(client, done)
  client:when_ready(function(problem)
    local lsp = client.lsp
    if problem or not lsp or not vim.lsp.buf_is_attached(0, lsp.id) then
      done(nil)
      return
    end
    local params = vim.lsp.util.make_position_params(0, lsp.offset_encoding)
    lsp:request('textDocument/hover', params, function(_, hover)
      done(M.key_of(hover))
    end)
  end)
end

return M
