--- One voice: messages to the user, and `User` events to other plugins.

local M = {}

---@param text string
---@param level integer? one of `vim.log.levels`
local function notify(text, level)
  vim.schedule(function()
    vim.cmd.redraw() -- what a list has left on the screen would make Neovim wait for a key
    vim.notify('jp: ' .. text, level or vim.log.levels.INFO)
  end)
end

---@param text string
function M.info(text)
  notify(text)
end

---@param text string
function M.warn(text)
  notify(text, vim.log.levels.WARN)
end

---@param text string
function M.fail(text)
  notify(text, vim.log.levels.ERROR)
end

--- Fire the autocommand event `User Jp{name}`; listeners find `data` in `event.data`.
---@param name string
---@param data table<string, any>
function M.event(name, data)
  vim.api.nvim_exec_autocmds('User', { pattern = 'Jp' .. name, modeline = false, data = data })
end

return M
