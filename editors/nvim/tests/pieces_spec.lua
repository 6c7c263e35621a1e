--- The small pure parts: edits, selections, attachments, wrapping, words about what goes on, completion.

local check = require('tests.check')
local context = require('jp.context')
local diff = require('jp.diff')
local server = require('jp.server')
local status = require('jp.status')
local wrap = require('jp.wrap')

---@param text string
---@param edits [string, string][]
local function applied(text, edits)
  return {
    diff.apply(
      text,
      vim.tbl_map(function(edit)
        return { old = edit[1], new = edit[2] }
      end, edits)
    ),
  }
end

check.case('applies edits one after the other, to the letter', function()
  check.equal(applied('a.b\n', { { 'a.', 'x%1' }, { 'b', 'c' } }), { 'x%1c\n' })
end)

check.case('says which edit does not fit', function()
  check.equal(applied('a', { { 'b', 'c' } }), { nil, 'the text that edit 1 replaces is not in the file' })
  check.equal(
    applied('aa b', { { 'b', 'c' }, { 'a', 'c' } }),
    { nil, 'the text that edit 2 replaces is in the file more than once' }
  )
  check.equal(applied('a', { { '', 'c' } }), { nil, 'the text that edit 1 replaces is not in the file' })
end)

check.case('takes as a proposal only what changes a file', function()
  local right = '{"path": "a", "version": "1", "edits": [{"old": "x", "new": "y"}]}'
  check.equal(diff.read(right), { path = 'a', edits = { { old = 'x', new = 'y' } } })
  for _, wrong in ipairs({
    '',
    'null',
    '[]',
    '{"path": "a"}',
    '{"path": 1, "edits": []}',
    '{"path": "a", "edits": {"old": "x"}}',
    '{"path": "a", "edits": [1]}',
    '{"path": "a", "edits": [{"old": "x"}]}',
  }) do
    check.equal({ wrong, diff.read(wrong) }, { wrong })
  end
end)

check.case('quotes lines in a fence that is longer than any within', function()
  local number = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(number, 0, -1, true, { 'a', '````', 'c' })
  vim.bo[number].filetype = 'markdown'
  local selection = context.lines(number, 1, 2, '/root')
  check.equal(selection.label, 'unnamed buffer:1-2')
  check.equal(selection.text, '`unnamed buffer`, lines 1 to 2:\n\n`````markdown\na\n````\n`````')
  check.equal(context.lines(number, 3, 3, '/root').text:match('^[^\n]*'), '`unnamed buffer`, line 3:')
end)

check.case('takes addresses as they are, and files as paths', function()
  local folder = assert(vim.uv.fs_realpath(vim.fs.dirname(vim.fn.tempname())))
  local path = vim.fs.joinpath(folder, 'a.txt')
  vim.fn.writefile({ 'x' }, path)
  for word, wanted in pairs({
    ['https://example.org/x'] = 'https://example.org/x',
    ['cmd:git diff'] = 'cmd:git diff',
    ['!secret.txt'] = '!secret.txt',
    ['jp-c17912345678'] = 'jp-c17912345678',
    [path] = 'a.txt',
  }) do
    check.equal({ context.attachment(word, folder) }, { wanted })
  end
  check.equal({ context.attachment(path, '/elsewhere') }, { vim.uri_from_fname(path) })
  check.equal({ context.attachment('/no/such/file', folder) }, { nil, 'there is no file /no/such/file' })
  check.equal({ context.attachment('%', folder) }, { nil, '"%" names no file' })
end)

check.case('breaks lines between words', function()
  check.equal(wrap.lines('one two three', 7), { 'one two', 'three' })
  check.equal(wrap.lines('a\n\nverylongword b', 5), { 'a', '', 'verylongword', 'b' })
  check.equal(wrap.lines('', 5), { '' })
end)

check.case('says what was used', function()
  check.equal(status.usage({ inputTokens = 7, outputTokens = 3 }), '7 tokens in, 3 out')
  check.equal(status.usage({ outputTokens = 3, cachedTokens = 0, reasoningTokens = 2 }), '3 tokens out, 2 thinking')
  check.equal(status.usage({}), nil)
  check.equal(status.usage(nil), nil)
  check.equal(
    { status.duration(0, 1234), status.duration(0, 61000), status.duration(nil, 5) },
    { '1.2 s', '1 min 01 s' }
  )
end)

check.case('finds the server by option, then in the workspace', function()
  local root = vim.fn.tempname()
  check.equal(
    select(2, server.find(root, { '/no/such/program' })),
    { '`/no/such/program`, which the option `cmd` names' }
  )
  local program = vim.fs.joinpath(root, '.venv', 'bin', 'jp-lsp')
  vim.fn.mkdir(vim.fs.dirname(program), 'p')
  vim.fn.writefile({ '#!/bin/sh' }, program)
  vim.uv.fs_chmod(program, tonumber('755', 8))
  check.equal(server.find(root, {}), { argv = { program }, where = "the workspace's environment" })
  check.equal(server.find(root, { 'sh', '-c' }), { argv = { 'sh', '-c' }, where = 'the option `cmd`' })
end)

check.case('names the command that installs the server', function()
  check.equal(server.missing_message():match('python3 %-m pip install %S+') ~= nil, true)
end)

check.case('completes subcommands and their arguments', function()
  local commands = require('jp.commands')
  check.equal(commands.complete('a', 'Jp a'), { 'abort', 'actions', 'answer', 'approve', 'archive', 'ask', 'attach' })
  check.equal(commands.complete('', 'Jp chat '), { 'last', 'new' })
  check.equal(commands.complete('c', "'<,'>Jp explain c"), { 'config' })
  check.equal(commands.complete('', 'Jp nonsense '), {})
  check.equal(commands.complete('un', 'Jp conversations un'), { 'unarchive', 'unpin' })
  check.equal(commands.complete('', 'Jp conversations move '), { 'local', 'workspace' })
  check.equal(commands.complete('', 'Jp fork '), { 'here', 'last' })
  check.equal(commands.complete('', 'Jp fork last '), {})
end)
