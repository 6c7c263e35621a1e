--- A Neovim that has the plugin and does not use it loads next to nothing.

local check = require('tests.check')

check.case('loads no module before the first use', function()
  local plugin = vim.fs.joinpath(check.repository(), 'editors', 'nvim')
  local code = [[
    local loaded = {}
    for name in pairs(package.loaded) do
      if name == 'jp' or vim.startswith(name, 'jp.') or name == 'vim.lsp' then
        table.insert(loaded, name)
      end
    end
    io.stdout:write(vim.json.encode({ vim.fn.exists(':Jp'), vim.fn.maparg('<Plug>(JpAsk)', 'n'), loaded }))
  ]]
  local argv = {
    vim.v.progpath,
    '--headless',
    '--clean',
    '-n',
    '--cmd',
    'set runtimepath^=' .. plugin,
    '-c',
    'lua ' .. code:gsub('\n%s*', ' '),
    '-c',
    'qa!',
  }
  local told = vim.system(argv, { text = true }):wait()
  check.equal(vim.json.decode(told.stdout), { 2, '<Cmd>Jp ask<CR>', {} })
end)

check.case('loads the options alone with setup()', function()
  local plugin = vim.fs.joinpath(check.repository(), 'editors', 'nvim')
  local code = [[
    require('jp').setup({ hint = false })
    local loaded = {}
    for name in pairs(package.loaded) do
      if vim.startswith(name, 'jp') then table.insert(loaded, name) end
    end
    table.sort(loaded)
    io.stdout:write(vim.json.encode(loaded))
  ]]
  local argv = {
    vim.v.progpath,
    '--headless',
    '--clean',
    '-n',
    '--cmd',
    'set runtimepath^=' .. plugin,
    '-c',
    'lua ' .. code:gsub('\n%s*', ' '),
    '-c',
    'qa!',
  }
  local told = vim.system(argv, { text = true }):wait()
  check.equal(vim.json.decode(told.stdout), { 'jp', 'jp.config' })
end)
