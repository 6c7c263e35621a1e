-- For `vim.lsp.enable('jp')`: the server starts with the first file of a workspace instead of the first `:Jp`.

return require('jp.client').lsp_config()
