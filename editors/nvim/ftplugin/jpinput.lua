-- What is asked is written as Markdown; the keys are those of `:help jp-keys`.

pcall(vim.treesitter.start, 0, 'markdown') -- a Neovim without that parser shows plain text
require('jp.chat.keys').set_for_input(0)
