--- A place in a conversation: finding the rows of a turn in the buffer, and going there.

---@class jp.Place
---@field turn integer counted from 1
---@field scope jp.SearchScope? in what was said by whom
---@field text string? what stands there

---@class jp.Chat
local Chat = {}

--- The scope that an item would be found in.
---@param drawn jp.DrawnItem
---@param speaker string
---@return jp.SearchScope
local function scope_of(drawn, speaker)
  local item = drawn.item
  if item.type == 'text' then
    return item.facts.region == 'reasoning' and 'reasoning' or speaker
  end
  return item.type
end

--- What is drawn of a turn, with the scope of each.
---@param sections jp.Section[]
---@param index integer
---@return { drawn: jp.DrawnItem, scope: jp.SearchScope }[]
local function items_of(sections, index)
  local found = {}
  for _, section in ipairs(sections) do
    local speaker = 'assistant'
    for _, drawn in ipairs(section.drawn and section.drawn.items or {}) do
      speaker = drawn.item.type == 'role' and drawn.item.facts.role or speaker
      if section.state.turns[drawn.turn].facts.turnIndex == index then
        table.insert(found, { drawn = drawn, scope = scope_of(drawn, speaker) })
      end
    end
  end
  return found
end

--- The row and column of a place; what is not shown is looked for in all of its turn, which begins the search.
---@param place jp.Place
---@return integer? row counted from 0
---@return integer? column
---@private
function Chat:find(place)
  local items = items_of(self.sections, place.turn)
  if #items == 0 then
    return nil, nil
  end
  local anywhere ---@type { row: integer, column: integer }?
  for _, item in ipairs(place.text and items or {}) do
    local lines = vim.api.nvim_buf_get_lines(self.buffer, item.drawn.first, item.drawn.last + 1, false)
    for offset, line in ipairs(lines) do
      local column = line:find(place.text, 1, true)
      if column and item.scope == place.scope then
        return item.drawn.first + offset - 1, column - 1
      elseif column then
        anywhere = anywhere or { row = item.drawn.first + offset - 1, column = column - 1 }
      end
    end
  end
  if anywhere then
    return anywhere.row, anywhere.column
  end
  return items[1].drawn.first, 0
end

--- Go to a place, as soon as it is drawn.
---@param place jp.Place
function Chat:go_to(place)
  self.goal = place
  self:redraw()
end

--- Go where somebody wanted to, if that is drawn by now.
---@package
function Chat:reach_goal()
  local row, column = nil, nil
  if self.goal then
    row, column = self:find(self.goal)
  end
  if not row then
    return
  end
  self.goal = nil
  for _, window in ipairs(vim.fn.win_findbuf(self.buffer)) do
    vim.api.nvim_win_call(window, function()
      vim.cmd("normal! m'")
      vim.api.nvim_win_set_cursor(window, { row + 1, column })
      vim.cmd('normal! zvzz')
    end)
  end
end

--- The number of the turn under the cursor, or above it.
---@return integer?
function Chat:turn_here()
  local window = vim.fn.win_findbuf(self.buffer)[1]
  local row, found = window and vim.api.nvim_win_get_cursor(window)[1] - 1 or -1, nil
  for _, section in ipairs(self.sections) do
    for _, drawn in ipairs(section.drawn and section.drawn.items or {}) do
      found = drawn.first <= row and section.state.turns[drawn.turn].facts.turnIndex or found
    end
  end
  return found
end

return Chat
