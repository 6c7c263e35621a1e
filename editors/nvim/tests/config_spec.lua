--- Options are merged with their defaults, and wrong ones are named.

local check = require('tests.check')
local config = require('jp.config')

check.case('keeps the defaults without options', function()
  check.equal(config.set(nil), {})
  check.equal(config.options, config.defaults)
end)

check.case('merges what is given', function()
  check.equal(config.set({ model = 'a/b', chat = { size = 0.3 } }), {})
  check.equal(config.options.model, 'a/b')
  check.equal(config.options.chat.size, 0.3)
  check.equal(config.options.chat.position, 'right')
end)

check.case('names what is wrong, and takes the rest', function()
  local problems = config.set({
    modle = 'x',
    restarts = 'many',
    cmd = { program = 'jp-lsp' },
    hint = false,
    chat = { position = 'middle', size = 2, folds = false },
  })
  check.equal(problems, {
    '`chat.position` must be right, left, top, bottom, tab or current, not "middle"',
    '`chat.size` must be a number between 0 and 1, not 2',
    '`cmd` must be a list of words, not {\n  program = "jp-lsp"\n}',
    'there is no option `modle`',
    '`restarts` must be a number, not a string',
  })
  check.equal({ config.options.hint, config.options.chat.folds }, { false, false })
  check.equal({ config.options.restarts, config.options.chat.position }, { 3, 'right' })
  config.set(nil)
end)
