--- Query documents, `*.jp.md`: a file is the place where a query is written, and a code lens above it sends it.
---
--- This is also where queries arrive that the server has put together itself: those of code actions.

local say = require('jp.say')

local M = {}

local ENDING = '.jp.md'

---@param buffer integer
---@return boolean
local function is_document(buffer)
  return vim.endswith(vim.api.nvim_buf_get_name(buffer), ENDING)
end

--- Open a query document; without a name, one that does not exist yet.
---@param client jp.Client
---@param name string
function M.open(client, name)
  local path = name
  if name == '' then
    local count = 1
    repeat
      path = vim.fs.joinpath(client.root, (count == 1 and 'query' or 'query-' .. count) .. ENDING)
      count = count + 1
    until not vim.uv.fs_stat(path) and vim.fn.bufexists(path) == 0
  elseif not vim.endswith(name, ENDING) then
    path = name .. ENDING
  end
  vim.cmd.edit(vim.fn.fnameescape(path))
end

--- Send the query of a document. What is not saved counts: the server has the text of the buffer.
---@param client jp.Client
---@param buffer integer
function M.send(client, buffer)
  if not is_document(buffer) then
    say.info(('this is no query document: its name does not end in `%s`'):format(ENDING))
    return
  end
  client:when_ready(function(problem)
    if problem then
      say.fail(problem.message)
      return
    end
    vim.lsp.buf_attach_client(buffer, assert(client.lsp).id) -- for one that the option `attach` keeps out
    M.ask(client, { document = { uri = vim.uri_from_bufnr(buffer) } })
  end)
end

--- Show a chat, and leave the cursor where it is.
---@param chat jp.Chat
local function show_beside(chat)
  local window = vim.api.nvim_get_current_win()
  chat:show()
  vim.api.nvim_set_current_win(window)
end

--- Another chat of the same conversation.
---@param chat jp.Chat
---@return jp.Chat?
local function twin_of(chat)
  return vim.iter(vim.tbl_values(chat.client.chats)):find(function(other)
    return other ~= chat and other.conversation ~= nil and other.conversation == chat.conversation
  end)
end

--- Ask what a document says. It decides on the conversation, so the answer comes into a chat of its own; when it
--- is complete, the whole conversation is shown.
---@param client jp.Client
---@param params jp.QueryParams
local function ask_document(client, params)
  local chat = require('jp.chat.buffer').new(client)
  show_beside(chat)
  chat:ask('', params, function(result)
    if result and result.explanation then
      require('jp.explain').show(result.explanation)
    end
    local twin = result and twin_of(chat)
    if twin then
      for _, window in ipairs(vim.fn.win_findbuf(chat.buffer)) do
        vim.api.nvim_win_set_buf(window, twin.buffer)
      end
      vim.api.nvim_buf_delete(chat.buffer, { force = true })
      twin:load()
    elseif result and #result.turns > 0 and result.turns[1].index > 1 then
      chat:load()
    end
  end)
end

--- Ask what the server has put together: a document, a question about code, or code without a question, which
--- the user writes.
---@param client jp.Client
---@param params jp.QueryParams
function M.ask(client, params)
  if params.document then
    ask_document(client, params)
    return
  end
  local chats = require('jp.chat.buffer')
  local chat = chats.current(client) or chats.new(client)
  if params.text then
    local more = vim.deepcopy(params)
    more.text = nil
    show_beside(chat)
    chat:ask(params.text, more)
  else
    table.insert(chat.selections, { label = M.label(params.quote), text = params.quote })
    chat:write()
  end
end

--- What stands behind an action of any server: its command, if it has one.
---@param action lsp.CodeAction|lsp.Command
---@return string?
local function command_of(action)
  return type(action.command) == 'table' and action.command.command or action.command
end

--- Let the user choose what to ask about lines, or about the diagnostics of the line under the cursor, whoever they
--- are from. `vim.lsp.buf.code_action` alone would tell the server of its own diagnostics only.
---@param client jp.Client
---@param range [integer, integer]? lines, counted from 1
function M.actions(client, range)
  local buffer, lnum = vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1
  client:when_ready(function(problem)
    if problem then
      say.fail(problem.message)
      return
    end
    vim.lsp.buf_attach_client(buffer, assert(client.lsp).id)
    local found = range and {} or vim.diagnostic.get(buffer, { lnum = lnum })
    if not range and #found == 0 then
      say.info('there is no diagnostic on this line; select lines to ask about them')
      return
    end
    vim.lsp.buf.code_action({
      context = { diagnostics = vim.lsp.diagnostic.from(found) },
      range = range and {
        start = { range[1], 0 },
        ['end'] = { range[2], #vim.api.nvim_buf_get_lines(buffer, range[2] - 1, range[2], true)[1] },
      },
      filter = function(action)
        return command_of(action) == 'jp.query'
      end,
    })
  end)
end

--- What a piece of code is called: the first line of a quote without its marks, such as `area.py, lines 1 to 2`.
---@param quote string
---@return string
function M.label(quote)
  return (quote:match('[^\n]*'):gsub('`', ''):gsub(':$', ''))
end

--- Keep the lens of a document right: it is looked for again whenever the text, or what runs, may have changed.
---@param lsp vim.lsp.Client
---@param buffer integer
function M.show_lens(lsp, buffer)
  if not is_document(buffer) or not lsp:supports_method('textDocument/codeLens', buffer) then
    return
  end
  if vim.lsp.codelens.enable then -- Neovim 0.12 does the rest
    vim.lsp.codelens.enable(true, { bufnr = buffer })
    return
  end
  local group = vim.api.nvim_create_augroup('jp.lens.' .. buffer, {})
  local is_asking, is_stale = false, false
  ---@return boolean # whether nobody needs it any more
  local function refresh()
    if not vim.api.nvim_buf_is_loaded(buffer) or lsp:is_stopped() then
      return true
    end
    is_stale = is_asking
    if not is_asking then
      local params = { textDocument = vim.lsp.util.make_text_document_params(buffer) }
      -- `vim.lsp.codelens.refresh` would drop a change that comes while it waits for the answer to the one before.
      is_asking = lsp:request('textDocument/codeLens', params, function(...)
        is_asking = false
        vim.lsp.codelens.on_codelens(...)
        if is_stale then
          refresh()
        end
      end, buffer)
    end
    return false
  end
  vim.api.nvim_create_autocmd(
    { 'BufEnter', 'InsertLeave', 'TextChanged' },
    { group = group, buffer = buffer, callback = refresh }
  )
  vim.api.nvim_create_autocmd(
    'User',
    { group = group, pattern = { 'JpTurnStarted', 'JpTurnCompleted' }, callback = refresh }
  )
  refresh()
end

return M
