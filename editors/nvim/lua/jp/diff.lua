--- What a tool call would change in a file, as Neovim's own diff.

local say = require('jp.say')

local M = {}

---@class jp.Proposal
---@field path string
---@field edits { old: string, new: string }[]

--- What a call's arguments want to change; nil for a call that changes no file.
---@param arguments string JSON
---@return jp.Proposal?
function M.read(arguments)
  local ok, decoded = pcall(vim.json.decode, arguments, { luanil = { object = true, array = true } })
  if not ok or type(decoded) ~= 'table' then
    return nil
  end
  if type(decoded.path) ~= 'string' or type(decoded.edits) ~= 'table' or not vim.islist(decoded.edits) then
    return nil
  end
  for _, edit in ipairs(decoded.edits) do
    if type(edit) ~= 'table' or type(edit.old) ~= 'string' or type(edit.new) ~= 'string' then
      return nil
    end
  end
  return { path = decoded.path, edits = decoded.edits }
end

--- Make the edits; each text to replace must be there exactly once.
---@param text string
---@param edits { old: string, new: string }[]
---@return string?
---@return string? problem
function M.apply(text, edits)
  for position, edit in ipairs(edits) do
    local first, last = text:find(edit.old, 1, true)
    if not first or edit.old == '' then
      return nil, ('the text that edit %d replaces is not in the file'):format(position)
    end
    if text:find(edit.old, first + 1, true) then
      return nil, ('the text that edit %d replaces is in the file more than once'):format(position)
    end
    text = text:sub(1, first - 1) .. edit.new .. text:sub(last + 1)
  end
  return text
end

--- The call that a question is about, and its client's root.
---@param question jp.Question
---@return jp.Proposal?
---@return string? root
function M.proposal(question)
  for _, client in ipairs(require('jp.client').all()) do
    for _, chat in pairs(client.chats) do
      local call = require('jp.chat.render').call(chat.sections, question.params.callId)
      if call and vim.tbl_contains(client.questions, question) then
        return M.read(call.item.facts.arguments or ''), client.root
      end
    end
  end
end

--- Show the file beside what it would become, in a tab of its own.
---@param proposal jp.Proposal
---@param root string
---@return integer? buffer what it would become
function M.show(proposal, root)
  local path = proposal.path:match('^file:') and vim.uri_to_fname(proposal.path) or proposal.path
  if vim.fn.isabsolutepath(path) == 0 then
    path = vim.fs.joinpath(root, path)
  end
  if not vim.uv.fs_stat(path) and vim.fn.bufexists(path) == 0 then
    say.warn(('there is no file %s'):format(path))
    return
  end
  vim.cmd.tabedit(vim.fn.fnameescape(vim.fn.fnamemodify(path, ':.')))
  local file = vim.api.nvim_get_current_buf()
  local text = table.concat(vim.api.nvim_buf_get_lines(file, 0, -1, true), '\n') .. '\n'
  local changed, problem = M.apply(text, proposal.edits)
  if not changed then
    vim.cmd.tabclose()
    say.warn(assert(problem))
    return
  end
  vim.cmd.diffthis()
  vim.wo[0][0].winbar = ' %#JpTitle#What is there%*'
  vim.cmd('rightbelow vertical new')
  local buffer = vim.api.nvim_get_current_buf()
  vim.bo[buffer].buftype, vim.bo[buffer].bufhidden = 'nofile', 'wipe'
  vim.api.nvim_buf_set_lines(buffer, 0, -1, true, vim.split((changed:gsub('\n$', '')), '\n', { plain = true }))
  vim.api.nvim_buf_set_name(buffer, ('jp://proposed/%d/%s'):format(vim.uv.hrtime(), vim.fs.basename(path)))
  vim.bo[buffer].filetype = vim.bo[file].filetype
  vim.bo[buffer].modifiable = false
  vim.cmd.diffthis()
  vim.wo[0][0].winbar = ' %#JpTitle#What it would become%*%=%#JpKey#q%* closes '
  vim.keymap.set('n', 'q', '<Cmd>tabclose<CR>', { buffer = buffer, desc = 'Close the comparison' })
  return buffer
end

--- Show what the current question, or the call under the cursor, would change.
---@param client jp.Client
function M.show_current(client)
  local chats = require('jp.chat.buffer')
  local chat = chats.here()
  local drawn = chat and chat:item_under_cursor()
  local question = require('jp.approval').current(client)
  local proposal = question and M.proposal(question)
    or drawn and drawn.item.type == 'tool_call' and M.read(drawn.item.facts.arguments or '')
  if proposal then
    local buffer = M.show(proposal, client.root)
    if question then
      question.buffer = buffer
      require('jp.hint').update()
    end
  else
    say.info('there is no change of a file to show')
  end
end

return M
