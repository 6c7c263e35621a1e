-- A chat is read as Markdown; its keys are those of `:help jp-keys`.

pcall(vim.treesitter.start, 0, 'markdown') -- a Neovim without that parser shows plain text
vim.bo.commentstring = ''
require('jp.chat.keys').set_for_chat(0)
