--- `:help jp` and the code tell the same.

local check = require('tests.check')
local config = require('jp.config')

local plugin = vim.fs.joinpath(check.repository(), 'editors', 'nvim')
local lines = vim.fn.readfile(vim.fs.joinpath(plugin, 'doc', 'jp.txt'))
local text = table.concat(lines, '\n')

--- All tags that match a pattern.
---@param pattern string
---@return table<string, boolean>
local function tags(pattern)
  local found = {}
  for tag in text:gmatch('%*(%S+)%*') do
    local name = tag:match(pattern)
    if name then
      found[name] = true
    end
  end
  return found
end

---@param names string[]
---@return table<string, boolean>
local function set(names)
  local found = {}
  for _, name in ipairs(names) do
    found[name] = true
  end
  return found
end

--- The defaults, by their dotted names.
---@param values table<string, any>
---@param prefix string
---@param found table<string, string>
local function flatten(values, prefix, found)
  for name, value in pairs(values) do
    if type(value) == 'table' and not vim.islist(value) then
      flatten(value, prefix .. name .. '.', found)
    else
      found[prefix .. name] = vim.inspect(value)
    end
  end
  return found
end

check.case('describes each option with its default, and no other', function()
  local described = {}
  for name in pairs(tags('^jp%-option%-(.*)$')) do
    local block = text:match('%*jp%-option%-' .. vim.pesc(name) .. '%*\n(.-)\n%S') or ''
    described[name] = block:match('Default: `(.-)`')
  end
  check.equal(described, flatten(config.defaults, '', {}))
end)

check.case('annotates each option', function()
  local source = table.concat(vim.fn.readfile(vim.fs.joinpath(plugin, 'lua', 'jp', 'config.lua')), '\n')
  for name in pairs(flatten(config.defaults, '', {})) do
    local last = name:match('[^.]*$')
    check.equal({ name, source:match('%-%-%-@field ' .. last .. ' %S+') ~= nil }, { name, true })
  end
end)

check.case('describes each subcommand, and no other', function()
  check.equal(tags('^:Jp%-(.*)$'), set(vim.tbl_keys(require('jp.commands').subcommands)))
end)

check.case('describes each function, and no other', function()
  local functions = tags('^jp%.(.*)%(%)$')
  check.equal(functions, set(vim.tbl_keys(require('jp'))))
end)

check.case('describes each highlight group, and no other', function()
  check.equal(tags('^hl%-(Jp.*)$'), set(vim.tbl_keys(require('jp.highlights').links)))
end)

check.case('describes each event, and no other', function()
  local fired = {}
  for path in vim.fs.dir(vim.fs.joinpath(plugin, 'lua', 'jp'), { depth = 2 }) do
    if path:match('%.lua$') then
      local source = table.concat(vim.fn.readfile(vim.fs.joinpath(plugin, 'lua', 'jp', path)), '\n')
      for name in source:gmatch("say%.event%('(%w+)'") do
        fired['Jp' .. name] = true
      end
    end
  end
  check.equal(tags('^(Jp%w+)$'), fired)
end)

check.case('describes each key of chat and input', function()
  local keys = require('jp.chat.keys')
  for _, list in ipairs({ keys.both, keys.chat, keys.input }) do
    for _, key in ipairs(list) do
      local shown = key.keys:match('^g[1-9]$') and 'g1 .. g9' or key.keys
      check.equal({ key.keys, text:find(shown, 1, true) ~= nil }, { key.keys, true })
    end
  end
end)

check.case('describes each <Plug> map', function()
  vim.cmd.runtime('plugin/jp.lua')
  local count = 0
  for _, map in ipairs(vim.api.nvim_get_keymap('n')) do
    local name = map.lhs:match('^<Plug>(%(Jp%w+%))$')
    if name then
      count = count + 1
      check.equal({ name, text:find('`<Plug>' .. name .. '`', 1, true) ~= nil }, { name, true })
    end
  end
  check.equal(count, 10)
end)

check.case('has tags that Neovim accepts, each once', function()
  local folder = vim.fn.tempname()
  vim.fn.mkdir(folder, 'p')
  vim.fn.writefile(lines, vim.fs.joinpath(folder, 'jp.txt'))
  vim.cmd.helptags(folder)
  local count = #vim.fn.readfile(vim.fs.joinpath(folder, 'tags'))
  check.equal(count > 80, true)
end)
