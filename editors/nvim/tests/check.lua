--- The few words that the specs need: a case, and what must be equal.

local M = { failed = 0, passed = 0 }

---@param name string
---@param run fun()
function M.case(name, run)
  local ok, problem = xpcall(run, debug.traceback)
  if ok then
    M.passed = M.passed + 1
  else
    M.failed = M.failed + 1
    io.stdout:write(('FAILED %s\n%s\n'):format(name, problem))
  end
end

---@param actual any
---@param expected any
function M.equal(actual, expected)
  if not vim.deep_equal(actual, expected) then
    error(('expected %s\n     got %s'):format(vim.inspect(expected), vim.inspect(actual)), 2)
  end
end

--- The folder of the whole project.
---@return string
function M.repository()
  local here = debug.getinfo(1, 'S').source:sub(2)
  return vim.fs.normalize(vim.fs.joinpath(vim.fs.dirname(here), '..', '..', '..'))
end

return M
