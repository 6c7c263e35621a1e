--- Buffers for a text that has no file: arguments to edit, explanations to read.

local say = require('jp.say')

local M = {}

--- Open a window for a buffer; when it is gone, the windows are as they were, unless others have come or gone.
---@param name string
---@param lines string[]
---@param filetype string
---@return integer buffer
local function open(name, lines, filetype)
  local buffer = vim.api.nvim_create_buf(false, true)
  vim.bo[buffer].bufhidden = 'wipe'
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, lines)
  local window, layout = vim.api.nvim_get_current_win(), vim.fn.winrestcmd()
  local windows = vim.api.nvim_tabpage_list_wins(0)
  vim.cmd(('botright %dsplit'):format(math.min(math.max(#lines + 2, 6), math.floor(vim.o.lines / 2))))
  vim.api.nvim_win_set_buf(0, buffer)
  vim.api.nvim_create_autocmd('BufWipeout', {
    buffer = buffer,
    callback = vim.schedule_wrap(function()
      if vim.deep_equal(vim.api.nvim_tabpage_list_wins(0), windows) then
        vim.cmd(layout)
      end
      if vim.api.nvim_win_is_valid(window) then
        vim.api.nvim_set_current_win(window)
      end
    end),
  })
  vim.api.nvim_buf_set_name(buffer, name)
  vim.bo[buffer].filetype = filetype
  return buffer
end

---@class jp.Draft a text to write
---@field name string of the buffer, behind `jp://`
---@field title string
---@field text string
---@field filetype string
---@field keys string what to press, as a part of a status line

--- A buffer with a text to change. Writing it hands the text over, and closes the buffer.
---@param draft jp.Draft
---@param send fun(text: string)
---@return integer buffer
function M.write(draft, send)
  local name = ('jp://%s/%d'):format(draft.name, vim.uv.hrtime())
  local buffer = open(name, vim.split(draft.text, '\n', { plain = true }), draft.filetype)
  vim.bo[buffer].buftype = 'acwrite'
  vim.bo[buffer].modified = false
  vim.wo[0][0].winbar = (' %%#JpTitle#%s%%*%%=%s'):format((draft.title:gsub('%%', '%%%%')), draft.keys)
  vim.api.nvim_create_autocmd('BufWriteCmd', {
    buffer = buffer,
    callback = function()
      local text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, true), '\n')
      vim.bo[buffer].modified = false
      vim.schedule(function()
        if vim.api.nvim_buf_is_valid(buffer) then
          vim.api.nvim_buf_delete(buffer, { force = true })
        end
        send(text)
      end)
    end,
  })
  return buffer
end

--- A buffer with the text of a question of the kind `edit`. Writing it answers; leaving it leaves the question open.
---@param question jp.Question
---@param send fun(text: string)
function M.edit(question, send)
  question.buffer = M.write({
    name = 'edit/' .. question.id,
    title = question.params.message,
    text = question.params.value or '',
    filetype = question.params.language or 'text',
    keys = '%#JpKey#:w%* sends  %#JpKey#:q!%* leaves it open ',
  }, send)
end

--- A buffer to read, in place of an older one with the same title.
---@param title string
---@param text string
---@param filetype string
function M.read(title, text, filetype)
  local name = 'jp://read/' .. title
  local older = vim.fn.bufnr('^' .. vim.fn.escape(name, '\\*?[]{}^$') .. '$')
  if older ~= -1 then
    vim.api.nvim_buf_delete(older, { force = true })
  end
  local buffer = open(name, vim.split(text, '\n', { plain = true }), filetype)
  vim.bo[buffer].modifiable = false
  if not pcall(vim.treesitter.start, buffer, filetype) then
    vim.bo[buffer].syntax = filetype -- there is no parser, or none that works
  end
  vim.keymap.set('n', 'q', '<Cmd>close<CR>', { buffer = buffer, desc = 'Close' })
end

--- The server's log, which Neovim keeps among those of all servers.
function M.log()
  local path = vim.lsp.log.get_filename()
  if vim.fn.filereadable(path) == 0 then
    say.info('nothing was logged yet')
    return
  end
  vim.cmd.tabedit(vim.fn.fnameescape(path))
  vim.cmd.normal({ 'G', bang = true })
end

return M
