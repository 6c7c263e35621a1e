--- The keys of chat and input. They exist in these buffers only, and none of them means anything else there.

local config = require('jp.config')

local M = {}

---@class jp.Key
---@field modes string[]
---@field keys string
---@field desc string
---@field run fun(chat: jp.Chat)

---@param choice integer?
---@return fun(chat: jp.Chat)
local function answer(choice)
  return function(chat)
    require('jp.approval').answer_by_key(chat.client, choice)
  end
end

--- Show what the keys do. Where nobody has run `:helptags` the page is there all the same.
local function show_help()
  if pcall(vim.cmd.help, 'jp-keys') then
    return
  end
  local page = vim.api.nvim_get_runtime_file('doc/jp.txt', false)[1]
  vim.cmd.split({ args = { page }, magic = { file = false }, mods = { split = 'topleft' } })
  vim.bo.readonly, vim.bo.modifiable, vim.bo.filetype = true, false, 'help'
  vim.fn.search([[\*jp-keys\*]], 'w')
  vim.cmd('normal! zt')
end

---@type jp.Key[]
M.both = {
  {
    modes = { 'n' },
    keys = '<C-c>',
    desc = 'Interrupt the answer; a second time at once: stop it',
    run = function(chat)
      require('jp.interrupt').press(chat)
    end,
  },
  { modes = { 'n' }, keys = 'ga', desc = 'Answer the question', run = answer() },
  { modes = { 'n' }, keys = 'g0', desc = 'Dismiss the question', run = answer(0) },
  {
    modes = { 'n' },
    keys = 'gd',
    desc = 'Show what the call would change',
    run = function(chat)
      require('jp.diff').show_current(chat.client)
    end,
  },
  {
    modes = { 'n' },
    keys = 'g?',
    desc = 'Help',
    run = function()
      show_help()
    end,
  },
}
for choice = 1, 9 do
  table.insert(M.both, {
    modes = { 'n' },
    keys = 'g' .. choice,
    desc = ('Answer the question with button %d'):format(choice),
    run = answer(choice),
  })
end

---@type jp.Key[]
M.chat = {
  {
    modes = { 'n' },
    keys = 'i',
    desc = 'Write a query',
    run = function(chat)
      chat:write()
    end,
  },
  {
    modes = { 'n' },
    keys = '<CR>',
    desc = 'Open or close the fold',
    run = function()
      vim.cmd('silent! normal! za')
    end,
  },
  {
    modes = { 'n', 'x', 'o' },
    keys = ']]',
    desc = 'To the next speaker',
    run = function(chat)
      chat:to_speaker(1)
    end,
  },
  {
    modes = { 'n', 'x', 'o' },
    keys = '[[',
    desc = 'To the speaker before',
    run = function(chat)
      chat:to_speaker(-1)
    end,
  },
  {
    modes = { 'n' },
    keys = 'q',
    desc = 'Close the chat',
    run = function(chat)
      chat:hide()
    end,
  },
}

---@type jp.Key[]
M.input = {
  {
    modes = { 'n' },
    keys = '<CR>',
    desc = 'Send the query',
    run = function(chat)
      chat:send_input()
    end,
  },
  {
    modes = { 'n', 'i' },
    keys = '<C-s>',
    desc = 'Send the query',
    run = function(chat)
      chat:send_input()
    end,
  },
}

---@param buffer integer
---@param keys jp.Key[]
local function set(buffer, keys)
  if not config.options.chat.keys then
    return
  end
  for _, key in ipairs(keys) do
    vim.keymap.set(key.modes, key.keys, function()
      local chat = require('jp.chat.buffer').here()
      if chat then
        key.run(chat)
      end
    end, { buffer = buffer, desc = 'JP: ' .. key.desc, nowait = true })
  end
end

---@param buffer integer
function M.set_for_chat(buffer)
  set(buffer, M.both)
  set(buffer, M.chat)
end

---@param buffer integer
function M.set_for_input(buffer)
  set(buffer, M.both)
  set(buffer, M.input)
end

return M
