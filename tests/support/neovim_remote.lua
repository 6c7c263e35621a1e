-- Lets a test reach into the Neovim that sources this file: JSON lines over the socket `$NEOVIM_REMOTE`.
--
-- {"id": 1, "keys": "2<CR>"} types keys, also while a prompt waits for them;
-- {"id": 2, "code": "return ...", "args": [1]} runs Lua as soon as the editor's loop comes to it.
-- Each is answered with {"id": .., "ok": .., "value": ..}.

local pipe = assert((vim.uv or vim.loop).new_pipe(false))

local function answer(id, ok, value)
  local encoded, line = pcall(vim.json.encode, { id = id, ok = ok, value = value })
  if not encoded then
    line = vim.json.encode({ id = id, ok = false, value = line })
  end
  pipe:write(line .. '\n')
end

local function run(request)
  local chunk, problem = loadstring(request.code)
  if not chunk then
    return answer(request.id, false, problem)
  end
  answer(request.id, pcall(chunk, unpack(request.args)))
end

local function take(line)
  local request = vim.json.decode(line)
  if request.keys then
    vim.api.nvim_input(request.keys)
    return answer(request.id, true)
  end
  vim.schedule(function()
    run(request)
  end)
end

pipe:connect(vim.env.NEOVIM_REMOTE, function(problem)
  assert(not problem, problem)
  local waiting = ''
  pipe:read_start(function(_, data)
    waiting = waiting .. (data or '')
    for line in waiting:gmatch('([^\n]*)\n') do
      take(line)
    end
    waiting = waiting:match('[^\n]*$')
  end)
end)
