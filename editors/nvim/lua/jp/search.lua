--- Searching what was said in all conversations, and opening a hit at its place.

local conversations = require('jp.conversations')
local say = require('jp.say')

local M = {}

local MOST_HITS = 100

---@type table<jp.SearchScope, string>
local SPEAKERS = {
  title = 'title',
  user = 'you',
  assistant = 'answer',
  reasoning = 'thought',
  structured = 'value',
  tool_call = 'call',
  tool_result = 'result',
  inquiry = 'question',
}

--- A hit as a list shows it.
---@param hit jp.SearchHit
---@param name string? what to call its conversation
---@return string
function M.describe(hit, name)
  local speaker = SPEAKERS[hit.scope] or hit.scope
  local where = hit.turn and ('turn %d, %s'):format(hit.turn, speaker) or speaker
  local text = (hit.before .. hit.match .. hit.after):gsub('%s+', ' ')
  local more = hit.count > 1 and (' (%d×)'):format(hit.count) or ''
  return ('%s · %s: %s%s'):format(name or hit.conversation, where, vim.trim(text), more)
end

--- Let the user choose among the places where a text was said, and show the one that is chosen.
---@param client jp.Client
---@param pattern string
function M.run(client, pattern)
  client:request('jp/conversation/search', { pattern = pattern, limit = MOST_HITS }, function(problem, result)
    if problem then
      say.warn(problem.message)
      return
    end
    for _, unreadable in ipairs(result.unreadable) do
      say.warn(('%s was not searched: %s'):format(unreadable.conversation, unreadable.problem))
    end
    if #result.hits == 0 then
      say.info(('%q is nowhere in %d conversations'):format(pattern, result.searched))
      return
    end
    local count = result.more and ('the first %d places'):format(#result.hits) or ('%d places'):format(#result.hits)
    vim.ui.select(result.hits, {
      prompt = ('%q: %s'):format(pattern, count),
      kind = 'jp_hit',
      format_item = function(hit)
        return M.describe(hit, conversations.name(client, hit.conversation, hit.title))
      end,
    }, function(hit)
      if hit then
        local place = hit.turn and { turn = hit.turn, scope = hit.scope, text = hit.match } or nil
        conversations.open(client, hit.conversation, hit.title, place)
      end
    end)
  end)
end

return M
