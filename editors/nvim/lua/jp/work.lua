--- Work of the server that is no answer but takes a while, such as a summary: it is shown, and can be cancelled.

local say = require('jp.say')

local M = {}

local ANSWER_MS = 200

---@class jp.Work
---@field client jp.Client
---@field is_cancelled boolean
---@field is_over boolean

---@type table<string, jp.Work> by the token of its progress
local running = {}

--- Send a request that takes a while.
---@param client jp.Client
---@param method string
---@param params table<string, any>
---@param done fun(problem: jp.Problem?, result: any)
function M.run(client, method, params, done)
  local work = { client = client, is_cancelled = false, is_over = false }
  local token ---@type string?
  ---@param problem jp.Problem?
  ---@param result any
  local function finish(problem, result)
    work.is_over = true
    if token then
      running[token] = nil
    end
    done(problem, result)
  end
  token = client:stream(method, params, function(progress)
    if progress.message then
      say.info(progress.message .. '; `:Jp cancel` ends it')
    elseif progress.kind == 'end' and work.is_cancelled then
      -- Neovim keeps the answer to a cancelled request to itself. Any other comes right behind the end.
      vim.defer_fn(function()
        client:give_up(token, { message = 'It was cancelled; the conversation is as it was.' })
      end, ANSWER_MS)
    end
  end, finish)
  running[token] = not work.is_over and work or nil -- what is not offered is answered at once
end

--- Cancel what the server works on; what it would have changed is then as it was.
---@param client jp.Client
function M.cancel(client)
  local count = 0
  for token, work in pairs(running) do
    if work.client == client and client.lsp then
      work.is_cancelled, count = true, count + 1
      client.lsp:notify('window/workDoneProgress/cancel', { token = token })
    end
  end
  if count == 0 then
    say.info('there is nothing to cancel; `:Jp stop` ends an answer')
  end
end

return M
