std = 'luajit'
read_globals = { vim = { other_fields = true, fields = { o = { other_fields = true, read_only = false }, w = { other_fields = true, read_only = false }, wo = { other_fields = true, read_only = false }, bo = { other_fields = true, read_only = false }, g = { other_fields = true, read_only = false }, opt = { other_fields = true } } } }
max_line_length = 130
exclude_files = { 'lint', 'lua/jp/protocol.lua' }
