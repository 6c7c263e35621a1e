--- The text of a chat is what its sections fold to, however it came.

local check = require('tests.check')
local render = require('jp.chat.render')
local state = require('jp.state')

local folder = vim.fs.joinpath(check.repository(), 'tests', 'golden', 'wire')

local function chunks_of(name)
  local text = table.concat(vim.fn.readfile(vim.fs.joinpath(folder, name)), '\n')
  return vim.json.decode(text, { luanil = { object = true } }).chunks
end

local function buffer()
  return vim.api.nvim_create_buf(false, true)
end

---@param number integer
---@return string
local function text_in(number)
  return table.concat(vim.api.nvim_buf_get_lines(number, 0, -1, true), '\n')
end

--- What the buffer must hold: the transcripts, an empty line between them and one behind.
---@param sections jp.Section[]
---@return string
local function wanted(sections)
  local texts = {}
  for _, section in ipairs(sections) do
    local text = state.transcript(section.state)
    if text ~= '' then
      table.insert(texts, text)
    end
  end
  return #texts > 0 and table.concat(texts, '\n\n') .. '\n' or ''
end

--- What is drawn of an item stands where it is said to stand; its last row may hold the beginning of the next.
---@param number integer
---@param sections jp.Section[]
local function check_places(number, sections)
  for _, section in ipairs(sections) do
    for _, drawn in ipairs(section.drawn and section.drawn.items or {}) do
      local lines = vim.api.nvim_buf_get_lines(number, drawn.first, drawn.last + 1, true)
      local text = state.text_of(drawn.item):gsub('^\n+', '')
      check.equal(table.concat(lines, '\n'):sub(1, #text), text)
    end
  end
end

local function nothing() end

for name in vim.fs.dir(folder) do
  check.case('draws ' .. name .. ' chunk by chunk', function()
    local number, sections = buffer(), { render.section(false) }
    for _, chunk in ipairs(chunks_of(name)) do
      render.take(sections[1], chunk)
      render.draw(number, sections, nothing)
      check.equal(text_in(number), wanted(sections))
      check_places(number, sections)
    end
  end)

  check.case('draws ' .. name .. ' at once, behind another', function()
    local number, sections = buffer(), { render.section(true), render.section(false) }
    for _, chunk in ipairs(chunks_of('plain.json')) do
      render.take(sections[1], chunk)
    end
    for _, chunk in ipairs(chunks_of(name)) do
      render.take(sections[2], chunk)
    end
    render.draw(number, sections, nothing)
    check.equal(text_in(number), wanted(sections))
    check_places(number, sections)
  end)
end

check.case('draws two sections that grow by turns', function()
  local number, sections = buffer(), { render.section(false), render.section(false) }
  local first, second = chunks_of('abort_second_cycle.json'), chunks_of('two_tools.json')
  for position = 1, math.max(#first, #second) do
    for which, chunk in pairs({ first[position], second[position] }) do
      render.take(sections[which], chunk)
      render.draw(number, sections, nothing)
      check.equal(text_in(number), wanted(sections))
      check_places(number, sections)
    end
  end
end)

check.case('finds calls and what is under the cursor', function()
  local number, sections = buffer(), { render.section(false) }
  for _, chunk in ipairs(chunks_of('two_tools.json')) do
    render.take(sections[1], chunk)
  end
  render.draw(number, sections, nothing)
  local call = assert(render.call(sections, 'c2'))
  check.equal(vim.api.nvim_buf_get_lines(number, call.first, call.first + 1, true), { 'Calling tool see' })
  check.equal(render.item_at(sections, call.first), call)
  check.equal(render.call(sections, 'c9'), nil)
end)

check.case('tells before it writes where it will write', function()
  local number, sections, rows = buffer(), { render.section(false) }, {}
  for _, chunk in ipairs(chunks_of('plain.json')) do
    render.take(sections[1], chunk)
    render.draw(number, sections, function(row)
      table.insert(rows, { row, vim.api.nvim_buf_line_count(number) })
    end)
  end
  check.equal(rows[1], { 0, 1 })
  for position = 2, #rows do
    check.equal(rows[position][1], rows[position][2] - 2)
  end
end)
