--- What a query would send, and where settings come from, to read.

local say = require('jp.say')
local settings = require('jp.settings')

local M = {}

--- Show what a query would send; nothing is sent.
---@param chat jp.Chat
---@param text string
function M.query(chat, text)
  chat.client:request('jp/query', {
    text = text ~= '' and text or 'Hello',
    conversation = chat.conversation or 'new',
    explain = true,
    persist = false,
  }, function(problem, result)
    if problem then
      say.fail(problem.message)
    else
      M.show(result.explanation)
    end
  end)
end

---@param explanation jp.QueryExplanation
function M.show(explanation)
  require('jp.scratch').read('explanation', M.text(explanation), 'markdown')
end

--- An explanation as Markdown.
---@param explanation jp.QueryExplanation
---@return string
function M.text(explanation)
  local lines = { '# What would be sent', '', 'Model: `' .. explanation.request.model .. '`', '' }
  local function section(title, items)
    if #items > 0 then
      vim.list_extend(lines, { '## ' .. title, '' })
      vim.list_extend(lines, items)
      table.insert(lines, '')
    end
  end
  section('System prompt', explanation.systemPrompt and vim.split(explanation.systemPrompt, '\n') or {})
  for _, each in ipairs(explanation.sections) do
    section(each.title or each.tag or 'Section', vim.split(each.content, '\n'))
  end
  local function list(items, describe)
    return vim.tbl_map(function(item)
      return '- ' .. describe(item)
    end, items)
  end
  section(
    'Tools',
    list(explanation.tools, function(tool)
      return ('`%s`: %s'):format(tool.name, tool.description or tool.source)
    end)
  )
  section(
    'Tools that are not offered',
    list(explanation.droppedTools, function(tool)
      return ('`%s`: %s'):format(tool.name, tool.reason)
    end)
  )
  section(
    'Attachments',
    list(explanation.attachments, function(attachment)
      return ('`%s`, %d bytes'):format(attachment.source, attachment.size)
    end)
  )
  section(
    'Settings',
    list(explanation.origins, function(origin)
      local places = vim.tbl_map(function(place)
        return place.line and ('%s:%d'):format(place.name, place.line) or place.name
      end, origin.places)
      return ('`%s = %s` from %s'):format(origin.key, settings.written(origin.value), table.concat(places, ', '))
    end)
  )
  section('What was done to find this out', list(explanation.effects, tostring))
  return table.concat(lines, '\n')
end

---@param place jp.ConfigPlace
---@return string
local function where(place)
  local name = vim.fn.fnamemodify(place.name, ':~')
  return place.line and ('%s:%d'):format(name, place.line) or name
end

--- Settings and who had a say in them, as Markdown.
---@param result jp.ConfigExplainResult
---@return string
function M.settings(result)
  local lines = { '# Where settings come from', '', 'Lowest first: ' .. table.concat(result.order, ', ') .. '.', '' }
  for _, setting in ipairs(result.settings) do
    vim.list_extend(lines, { ('## `%s`'):format(setting.key), '' })
    if setting.value ~= nil then
      vim.list_extend(lines, { ('`%s`, from %s'):format(settings.written(setting.value), where(setting.place)), '' })
    end
    for _, each in ipairs(setting.contributions) do
      local value = each.value ~= nil and (': `%s`'):format(settings.written(each.value)) or ''
      local reason = each.reason and (' (%s)'):format(each.reason) or ''
      table.insert(lines, ('- %s, %s%s%s'):format(where(each.place), each.state, value, reason))
    end
    vim.list_extend(lines, setting.notes)
    table.insert(lines, '')
  end
  for _, problem in ipairs(result.problems) do
    if problem.severity ~= 'hint' then
      table.insert(lines, ('- %s: %s'):format(problem.severity, problem.text))
    end
  end
  return table.concat(lines, '\n')
end

--- Show where settings come from: one by its key, the one under the cursor in a configuration file, or all.
---@param client jp.Client
---@param key string?
function M.config(client, key)
  if not key then
    settings.key_here(client, function(found)
      M.setting(client, found)
    end)
  else
    M.setting(client, key)
  end
end

---@param client jp.Client
---@param key string? all of them, when there is none
function M.setting(client, key)
  client:request('jp/config/explain', { key = key }, function(problem, result)
    if problem then
      say.warn(problem.message)
    else
      require('jp.scratch').read('configuration', M.settings(result), 'markdown')
    end
  end)
end

return M
