--- Where the server is: the option `cmd`, then the workspace's own environment, then the path.

local M = {}

---@class jp.Found
---@field argv string[]
---@field where string how it was found, for `:checkhealth`

local IS_WINDOWS = vim.fn.has('win32') == 1
local PROGRAM = IS_WINDOWS and 'Scripts/jp-lsp.exe' or 'bin/jp-lsp'

--- The server's command line for a workspace, or nil and where it was looked for.
---@param root string
---@param cmd string[] the option
---@return jp.Found?
---@return string[] looked
function M.find(root, cmd)
  if #cmd > 0 then
    if vim.fn.executable(cmd[1]) == 1 then
      return { argv = cmd, where = 'the option `cmd`' }, {}
    end
    return nil, { ('`%s`, which the option `cmd` names'):format(cmd[1]) }
  end
  for _, folder in ipairs({ '.venv', 'venv' }) do
    local path = vim.fs.joinpath(root, folder, PROGRAM)
    if vim.fn.executable(path) == 1 then
      return { argv = { path }, where = "the workspace's environment" }, {}
    end
  end
  local path = vim.fn.exepath('jp-lsp')
  if path ~= '' then
    return { argv = { path }, where = 'the path' }, {}
  end
  return nil, { vim.fs.joinpath('.venv', PROGRAM), 'the path' }
end

--- The command that installs the server. The plugin usually comes with a checkout of it.
---@return string
function M.install_command()
  local here = vim.fs.dirname(vim.fs.abspath(debug.getinfo(1, 'S').source:sub(2)))
  local checkout = vim.fs.root(here, 'pyproject.toml')
  return ('python3 -m pip install %s'):format(checkout and vim.fn.fnamemodify(checkout, ':~') or 'jp-lsp')
end

--- The sentence for a server that is nowhere; short, so that it fits on a line of most screens.
---@return string
function M.missing_message()
  return ('no server: `%s`, then `:Jp start`; `:checkhealth jp`'):format(M.install_command())
end

return M
