--- A Neovim that has the plugin and does not use it loads next to nothing.

local check = require('tests.check')

--- What a fresh Neovim with the plugin writes when it runs some code.
---@param code string
---@return any
local function told_by(code)
  local argv = {
    vim.v.progpath,
    '--headless',
    '--clean',
    '-n',
    '--cmd',
    'set runtimepath^=' .. vim.fs.joinpath(check.repository(), 'editors', 'nvim'),
    '-c',
    'lua ' .. code:gsub('\n%s*', ' '),
    '-c',
    'qa!',
  }
  return vim.json.decode(vim.system(argv, { text = true }):wait().stdout)
end

check.case('loads no module before the first use', function()
  local code = [[
    local loaded = {}
    for name in pairs(package.loaded) do
      if name == 'jp' or vim.startswith(name, 'jp.') or name == 'vim.lsp' then
        table.insert(loaded, name)
      end
    end
    io.stdout:write(vim.json.encode({ vim.fn.exists(':Jp'), vim.fn.maparg('<Plug>(JpAsk)', 'n'), loaded }))
  ]]
  check.equal(told_by(code), { 2, '<Cmd>Jp ask<CR>', {} })
end)

check.case('loads the options alone with setup()', function()
  local code = [[
    require('jp').setup({ hint = false })
    local loaded = {}
    for name in pairs(package.loaded) do
      if vim.startswith(name, 'jp') then table.insert(loaded, name) end
    end
    table.sort(loaded)
    io.stdout:write(vim.json.encode(loaded))
  ]]
  check.equal(told_by(code), { 'jp', 'jp.config' })
end)
