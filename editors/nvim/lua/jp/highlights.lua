--- The highlight groups. All are links, so that a colour scheme decides; define one yourself to change it.

local M = {}

---@type table<string, string>
M.links = {
  JpTitle = 'Title',
  JpUser = 'Title',
  JpAssistant = 'Function',
  JpDetail = 'Comment',
  JpRule = 'NonText',
  JpReasoning = 'Comment',
  JpTool = 'Function',
  JpToolLine = 'Comment',
  JpFold = 'Comment',
  JpNotice = 'WarningMsg',
  JpOk = 'DiagnosticOk',
  JpFailed = 'DiagnosticError',
  JpSkipped = 'Comment',
  JpUsage = 'Comment',
  JpOutcome = 'DiagnosticWarn',
  JpStatus = 'Comment',
  JpSpinner = 'DiagnosticInfo',
  JpPreview = 'Comment',
  JpQuestion = 'DiagnosticWarn',
  JpButton = 'Normal',
  JpKey = 'Special',
  JpHint = 'NormalFloat',
}

local function define()
  for group, target in pairs(M.links) do
    vim.api.nvim_set_hl(0, group, { link = target, default = true })
  end
end

function M.setup()
  define()
  vim.api.nvim_create_autocmd('ColorScheme', {
    group = vim.api.nvim_create_augroup('jp.highlights', {}),
    callback = define,
  })
end

return M
