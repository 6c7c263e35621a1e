--- Models and personas: settings that the next query of a chat takes along.

local say = require('jp.say')

local M = {}

local MODEL = 'assistant.model.id='
local PERSONA_FOLDERS = { '.jp/config/personas', 'personas' }

---@param chat jp.Chat
---@param setting string
---@param words string
local function take_along(chat, setting, words)
  table.insert(chat.config, setting)
  say.info(words)
  vim.cmd.redrawstatus({ bang = true })
end

--- Ask a model from the next query of a chat on.
---@param chat jp.Chat
---@param id string
function M.use_model(chat, id)
  chat.config = vim.tbl_filter(function(setting)
    return not vim.startswith(setting, MODEL)
  end, chat.config)
  take_along(chat, MODEL .. id, ('the next query asks %s'):format(id))
end

--- A model as a list shows it.
---@param model jp.ListedModel
---@return string
local function describe_model(model)
  local words = { model.id }
  table.insert(words, model.displayName)
  table.insert(words, model.contextWindow and ('%d tokens'):format(model.contextWindow) or nil)
  table.insert(words, model.effective and 'in use' or nil)
  table.insert(words, model.deprecated and 'deprecated' or nil)
  return table.concat(words, ' · ')
end

--- Let the user choose among the models that the server knows, or name one where it does not tell.
---@param chat jp.Chat
function M.choose_model(chat)
  chat.client:request('jp/model/list', { conversation = chat.conversation }, function(problem, result)
    if problem and problem.code ~= 'not_offered' then
      say.warn(problem.message)
    elseif problem or #result.models == 0 then
      vim.ui.input({ prompt = 'Model: ' }, function(id)
        if id and id ~= '' then
          M.use_model(chat, id)
        end
      end)
    else
      vim.ui.select(
        result.models,
        { prompt = 'Model', kind = 'jp_model', format_item = describe_model },
        function(model)
          if model then
            M.use_model(chat, model.id)
          end
        end
      )
    end
  end)
end

--- The personas that a workspace has files for.
---@param root string
---@return string[]
function M.persona_files(root)
  local names = {}
  for _, folder in ipairs(PERSONA_FOLDERS) do
    for name, kind in vim.fs.dir(vim.fs.joinpath(root, folder)) do
      local stem = name:match('^(.*)%.toml$') or name:match('^(.*)%.ya?ml$') or name:match('^(.*)%.json5?$')
      if stem and kind ~= 'directory' then
        table.insert(names, stem)
      end
    end
  end
  table.sort(names)
  return names
end

--- Apply a persona, or any configuration that the server finds by that name, with the next query of a chat.
---@param chat jp.Chat
---@param name string
function M.use_persona(chat, name)
  local is_file = vim.tbl_contains(M.persona_files(chat.client.root), name)
  take_along(chat, is_file and 'personas/' .. name or name, ('the next query is asked with %s'):format(name))
end

---@param files jp.NamedConfiguration[]
---@param chat jp.Chat
local function choose_file(files, chat)
  if #files == 0 then
    say.info('no configuration has a name; `config_load_paths` says where such files are')
    return
  end
  vim.ui.select(files, {
    prompt = 'Persona',
    kind = 'jp_persona',
    format_item = function(file)
      local words = { file.name }
      table.insert(words, file.title)
      table.insert(words, file.problem)
      return (table.concat(words, ' · '):gsub('%s+', ' '))
    end,
  }, function(file)
    if file then
      take_along(chat, file.expression, ('the next query is asked with %s'):format(file.name))
    end
  end)
end

--- Let the user choose among the named configurations: those that the server finds, or else the workspace's files.
---@param chat jp.Chat
function M.choose_persona(chat)
  chat.client:request('jp/config/list', {}, function(problem, result)
    if problem and problem.code ~= 'not_offered' then
      say.warn(problem.message)
    elseif problem then
      local files = vim.tbl_map(function(name)
        return { name = name, expression = 'personas/' .. name }
      end, M.persona_files(chat.client.root))
      choose_file(files, chat)
    else
      choose_file(result.files, chat)
    end
  end)
end

return M
