--- Windows of chats: where they open, how they look, and following the end of the text.

local config = require('jp.config')

local M = {}

---@type table<string, string>
local SPLITS = {
  right = 'botright vertical',
  left = 'topleft vertical',
  top = 'topleft',
  bottom = 'botright',
}

--- Give the windows of a chat buffer their options. They hold while the buffer is shown there.
---@param buffer integer
function M.prepare(buffer)
  for _, window in ipairs(vim.fn.win_findbuf(buffer)) do
    local options = vim.wo[window][0]
    options.wrap, options.linebreak, options.breakindent, options.smoothscroll = true, true, true, true
    options.number, options.relativenumber, options.signcolumn = false, false, 'no'
    options.list, options.spell = false, false
    options.conceallevel, options.concealcursor = 2, 'nc'
    options.winbar = "%{%v:lua.require'jp'.winbar()%}"
    if config.options.chat.folds then
      options.foldmethod = 'expr'
      options.foldexpr = "v:lua.require'jp.chat.folds'.expr()"
      options.foldtext = "v:lua.require'jp.chat.folds'.text()"
      options.foldlevel, options.foldenable, options.foldminlines = 0, true, 0
      options.fillchars = 'fold: ,eob: '
    end
  end
end

---@param buffer integer
---@return integer?
local function window_here(buffer)
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.api.nvim_win_get_buf(window) == buffer then
      return window
    end
  end
end

--- A window of this tab page that shows another chat.
---@return integer?
local function window_of_another_chat()
  for _, window in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    local buffer = vim.api.nvim_win_get_buf(window)
    local chat = require('jp.chat.buffer').of(buffer)
    if chat and chat.buffer == buffer then
      return window
    end
  end
end

---@param position string
local function open(position)
  if position == 'tab' then
    vim.cmd('tab split')
  elseif position ~= 'current' then
    vim.cmd(SPLITS[position] .. ' split')
    local size = config.options.chat.size
    if position == 'right' or position == 'left' then
      vim.api.nvim_win_set_width(0, math.floor(vim.o.columns * size))
    else
      vim.api.nvim_win_set_height(0, math.floor(vim.o.lines * size))
    end
  end
end

--- Show a chat in this tab page and go there.
---@param chat jp.Chat
function M.show(chat)
  local window = window_here(chat.buffer)
  if window then
    vim.api.nvim_set_current_win(window)
    return
  end
  local other = window_of_another_chat()
  if other then
    local shown = require('jp.chat.buffer').of(vim.api.nvim_win_get_buf(other))
    local input = shown and window_here(shown.input)
    vim.api.nvim_set_current_win(other)
    if input then
      vim.api.nvim_win_set_buf(input, chat.input)
      M.prepare_input(input)
    end
  else
    open(config.options.chat.position)
  end
  vim.api.nvim_win_set_buf(0, chat.buffer)
  M.prepare(chat.buffer)
  M.follow(chat.buffer, { vim.api.nvim_get_current_win() })
end

---@param window integer
function M.prepare_input(window)
  local options = vim.wo[window][0]
  options.number, options.relativenumber, options.signcolumn = false, false, 'no'
  options.wrap, options.linebreak, options.winfixheight = true, true, true
  options.winbar = "%{%v:lua.require'jp'.input_winbar()%}"
  options.fillchars = 'eob: '
end

--- Show a chat with its input below, and go into the input.
---@param chat jp.Chat
function M.show_input(chat)
  local window = window_here(chat.input)
  if window then
    vim.api.nvim_set_current_win(window)
    return
  end
  M.show(chat)
  local following = M.at_end(chat.buffer)
  vim.cmd('belowright split')
  vim.api.nvim_win_set_buf(0, chat.input)
  vim.api.nvim_win_set_height(0, config.options.chat.input_height + 1)
  M.prepare_input(vim.api.nvim_get_current_win())
  M.follow(chat.buffer, following)
end

--- Close the windows of a chat in this tab page; the last window of all stays and shows something else.
---@param chat jp.Chat
function M.hide(chat)
  for _, buffer in ipairs({ chat.input, chat.buffer }) do
    local window = window_here(buffer)
    if window and not pcall(vim.api.nvim_win_close, window, false) then
      vim.api.nvim_win_call(window, vim.cmd.enew) -- E444: the last window cannot be closed
    end
  end
end

--- Name a buffer anew; Neovim keeps the old name in a buffer of its own, which goes.
---@param buffer integer
---@param name string
function M.rename(buffer, name)
  local old = vim.api.nvim_buf_get_name(buffer)
  local other = vim.fn.bufnr('^' .. vim.fn.escape(name, '\\*?[]{}^$') .. '$')
  if other ~= -1 and other ~= buffer then
    return
  end
  vim.api.nvim_buf_set_name(buffer, name)
  local left = vim.fn.bufnr('^' .. vim.fn.escape(old, '\\*?[]{}^$') .. '$')
  if left ~= -1 and left ~= buffer then
    vim.api.nvim_buf_delete(left, { force = true })
  end
end

-- Following.

--- The windows of a buffer whose cursor is on the last line, or where `follow` has put it to show a question, and
--- in which nothing is being selected.
---@param buffer integer
---@return integer[]
function M.at_end(buffer)
  local last = vim.api.nvim_buf_line_count(buffer)
  local is_selecting = vim.api.nvim_get_mode().mode:match('^[vV\22]') ~= nil
  return vim.tbl_filter(function(window)
    local is_here = window == vim.api.nvim_get_current_win()
    local line = vim.api.nvim_win_get_cursor(window)[1]
    return config.options.chat.follow
      and (line == last or line == vim.w[window].jp_question)
      and not (is_here and is_selecting)
  end, vim.fn.win_findbuf(buffer))
end

--- How many rows of a line to leave out above, when it is too long for the room that is left. Shorter lines are
--- shown whole or not at all, but most of a window is never left empty.
---@param window integer
---@param line integer
---@param free integer rows
---@param room integer rows
---@return integer?
local function rows_to_skip(window, line, free, room)
  local height = vim.api.nvim_win_text_height(window, { start_row = line - 1, end_row = line - 1 })
  local rows = height.all - height.fill
  return free * 2 > room and rows > free and rows - free or nil
end

--- How a window is to be scrolled, so that a line and what lies below it are seen at its end.
---@param window integer
---@param last integer
---@return { topline: integer, skipcol: integer } view for `winrestview`
local function view_of(window, last)
  local is_end = last == vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(window))
  local room = vim.api.nvim_win_get_height(window) - (vim.wo[window].winbar ~= '' and 1 or 0)
  local top, used = last, 0
  while top > 1 do
    local height = vim.api.nvim_win_text_height(window, {
      start_row = top - 2,
      end_row = not is_end and last or nil, -- the row behind it: what lies below a line counts as above the next
    }).all
    if height > room then
      local skipped = rows_to_skip(window, top - 1, room - used, room)
      if skipped then
        return { topline = top - 1, skipcol = skipped * vim.api.nvim_win_get_width(window) }
      end
      break
    end
    top, used = top - 1, height
  end
  return { topline = top, skipcol = 0 }
end

--- Show the end of the text in some windows, or an open question that would be out of sight there.
---@param buffer integer
---@param followers integer[]
---@param question integer? the line that the question stands below
function M.follow(buffer, followers, question)
  local last = vim.api.nvim_buf_line_count(buffer)
  for _, window in ipairs(followers) do
    if vim.api.nvim_win_is_valid(window) and vim.api.nvim_win_get_buf(window) == buffer then
      local line, view = last, view_of(window, last)
      vim.w[window].jp_question = nil
      if question and question < view.topline then
        line, view = question, view_of(window, question)
        vim.w[window].jp_question = question
      end
      local column = #vim.api.nvim_buf_get_lines(buffer, line - 1, line, true)[1]
      vim.api.nvim_win_set_cursor(window, { line, column })
      vim.api.nvim_win_call(window, function()
        vim.fn.winrestview(view)
      end)
    end
  end
end

return M
