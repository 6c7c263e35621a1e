--- Runs the specs in a Neovim without a screen: `nvim --headless --clean -l editors/nvim/tests/run.lua [NAME…]`.

vim.o.verbose = 0 -- `-l` sets it to 1, which makes errors of silent commands real
local here = vim.fs.dirname(vim.fs.abspath(debug.getinfo(1, 'S').source:sub(2)))
local plugin = vim.fs.dirname(here)
vim.opt.runtimepath:prepend(plugin)
package.path = ('%s/?.lua;%s'):format(plugin, package.path)

local check = require('tests.check')
local wanted = {}
for _, name in ipairs(_G.arg) do
  wanted[name] = true
end
for name in vim.fs.dir(here) do
  local spec = name:match('^(.*)_spec%.lua$')
  if spec and (next(wanted) == nil or wanted[spec]) then
    dofile(vim.fs.joinpath(here, name))
  end
end
io.stdout:write(('%d passed, %d failed\n'):format(check.passed, check.failed))
os.exit(check.failed == 0 and check.passed > 0 and 0 or 1)
