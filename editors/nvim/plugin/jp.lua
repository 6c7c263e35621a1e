-- The :Jp command, the <Plug> maps and the jp:// buffers. Nothing else is loaded before the first of them is used.

if vim.g.loaded_jp then
  return
end
vim.g.loaded_jp = true

if vim.fn.has('nvim-0.11') == 0 then
  vim.api.nvim_create_user_command('Jp', function()
    vim.notify('jp: Neovim 0.11 or newer is needed', vim.log.levels.ERROR)
  end, { nargs = '*', range = true })
  return
end

vim.api.nvim_create_user_command('Jp', function(call)
  require('jp.commands').run(call)
end, {
  nargs = '*',
  range = true,
  desc = 'Ask a language model, and steer its answer',
  complete = function(lead, line)
    return require('jp.commands').complete(lead, line)
  end,
})

for name, words in pairs({
  Ask = 'ask',
  Chat = 'chat',
  New = 'new',
  Conversations = 'conversations',
  Interrupt = 'interrupt',
  Stop = 'stop',
  Answer = 'answer',
  Approve = 'approve',
  Skip = 'skip',
  Diff = 'diff',
}) do
  vim.keymap.set('n', ('<Plug>(Jp%s)'):format(name), ('<Cmd>Jp %s<CR>'):format(words))
end
vim.keymap.set('x', '<Plug>(JpAsk)', ':Jp ask<CR>')

vim.api.nvim_create_autocmd('BufReadCmd', {
  group = vim.api.nvim_create_augroup('jp.read', {}),
  pattern = 'jp://*',
  callback = function(event)
    require('jp.chat.buffer').read(event.buf, event.match)
  end,
})

vim.api.nvim_create_autocmd({ 'BufReadPost', 'BufNewFile' }, {
  group = vim.api.nvim_create_augroup('jp.open', {}),
  pattern = { '*.jp.md', '*/.jp/*.toml', '*/.jp/*.yaml', '*/.jp/*.yml', '*/.jp/*.json', '*/.jp/*.json5' },
  callback = function(event)
    require('jp.documents').open(event.buf)
  end,
})
