--- The options: what they are, what they default to, and what is wrong with those that were given.
---
--- `:help jp-options` describes each of them; a spec compares that page with the defaults below.

local M = {}

---@class jp.ChatOptions
---@field position 'right'|'left'|'top'|'bottom'|'tab'|'current' where the chat opens
---@field size number its share of the screen, between 0 and 1
---@field input_height integer how many lines the input has
---@field keys boolean whether chat and input have the keys of |jp-keys|
---@field folds boolean whether reasoning and tool calls are folded
---@field follow boolean whether a window whose cursor is on the last line shows what comes

---@class jp.Options
---@field cmd string[] the server's command line; when empty it is looked for
---@field env table<string, string> more environment variables for the server
---@field settings table<string, any> the server's own settings
---@field root_markers string[] what the root of a workspace contains; the first that is found counts
---@field attach boolean whether the server is shown files of the workspace as they are in the editor, unsaved
---@field restarts integer how often a server that died is started again within a minute
---@field model string the model of new queries; when empty the server's configuration decides
---@field hint boolean whether a question is announced in a corner while the cursor is elsewhere
---@field answer_delay_ms integer how long a question must have been on the screen before a key can answer it
---@field batch_ms integer how long chunks are gathered before they are drawn
---@field load_ms integer how long a stored conversation may take before its chat is shown without it
---@field chat jp.ChatOptions

---@type jp.Options
M.defaults = {
  cmd = {},
  env = {},
  settings = {},
  root_markers = { '.jp', '.git' },
  attach = true,
  restarts = 3,
  model = '',
  hint = true,
  answer_delay_ms = 300,
  batch_ms = 30,
  load_ms = 100,
  chat = {
    position = 'right',
    size = 0.45,
    input_height = 5,
    keys = true,
    folds = true,
    follow = true,
  },
}

local POSITIONS = { right = true, left = true, top = true, bottom = true, tab = true, current = true }

--- What a value must satisfy beyond having the type of its default.
---@type table<string, { is_right: (fun(value: any): boolean), wanted: string }>
local RULES = {
  ['cmd'] = { is_right = vim.islist, wanted = 'a list of words' },
  ['root_markers'] = { is_right = vim.islist, wanted = 'a list of names' },
  ['chat.position'] = {
    is_right = function(value)
      return POSITIONS[value] == true
    end,
    wanted = 'right, left, top, bottom, tab or current',
  },
  ['chat.size'] = {
    is_right = function(value)
      return value > 0 and value < 1
    end,
    wanted = 'a number between 0 and 1',
  },
}

---@type jp.Options
M.options = vim.deepcopy(M.defaults)

--- What is wrong with the options that a user gave, in sentences.
---@param given table<string, any>
---@param defaults table<string, any>
---@param prefix string
---@param problems string[]
local function look(given, defaults, prefix, problems)
  for name, value in vim.spairs(given) do
    local path = prefix .. name
    local default = defaults[name]
    local rule = RULES[path]
    if default == nil then
      table.insert(problems, ('there is no option `%s`'):format(path))
    elseif type(value) ~= type(default) then
      table.insert(problems, ('`%s` must be a %s, not a %s'):format(path, type(default), type(value)))
    elseif rule and not rule.is_right(value) then
      table.insert(problems, ('`%s` must be %s, not %s'):format(path, rule.wanted, vim.inspect(value)))
    elseif path == 'chat' then
      look(value, default, 'chat.', problems)
    end
  end
end

---@param given table<string, any>
---@return string[]
function M.problems(given)
  local problems = {}
  look(given, M.defaults, '', problems)
  return problems
end

--- Take the user's options. Those that are wrong are named and keep their defaults.
---@param given table<string, any>?
---@return string[] problems
function M.set(given)
  given = given or {}
  local problems = M.problems(given)
  if #problems == 0 then
    M.options = vim.tbl_deep_extend('force', M.defaults, given)
  else
    local right = { chat = {} }
    for name, value in pairs(given) do
      if name ~= 'chat' and #M.problems({ [name] = value }) == 0 then
        right[name] = value
      end
    end
    for name, value in pairs(type(given.chat) == 'table' and given.chat or {}) do
      if #M.problems({ chat = { [name] = value } }) == 0 then
        right.chat[name] = value
      end
    end
    M.options = vim.tbl_deep_extend('force', M.defaults, right)
  end
  return problems
end

return M
