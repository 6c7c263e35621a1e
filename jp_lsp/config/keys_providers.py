"""Keys of `providers` and `plugins`: where models and servers are reached (config-and-tools 2.5, 2.6)."""

from collections.abc import Mapping

from jp_lsp.config.kind import Key, ListOf, Table, map_of
from jp_lsp.config.model_id import MODEL_ID
from jp_lsp.config.scalars import boolean, choice, text, whole
from jp_lsp.config.shapes import CHECKSUM, JSON_MAP, NO_ITEMS, option, section, table

DEFAULT_STARTUP_TIMEOUT = 60


def _vendor(base_url: str, key_variable: str | None = None, more: Mapping[str, Key] | None = None) -> Key:
    keys: dict[str, Key] = {}
    if key_variable is not None:
        keys["api_key_env"] = Key(
            text(), "The environment variable that holds the key.", default=key_variable
        )
    keys["base_url"] = Key(text(), "Where requests are sent.", default=base_url)
    return section(table({**keys, **(more or {})}), "How this vendor is reached.")


def _openrouter() -> Key:
    return section(
        table(
            {
                "api_key_env": Key(
                    text(), "The environment variable that holds the key.", default="OPENROUTER_API_KEY"
                ),
                "app_name": Key(text(), "The name that the vendor sees.", default="JP"),
                "app_referrer": Key(text(), "The site that the vendor sees."),
                "base_url": Key(text(), "Where requests are sent.", default="https://openrouter.ai"),
            }
        ),
        "How this vendor is reached.",
    )


LLM = table(
    {
        "aliases": Key(map_of(MODEL_ID), "Short names of models.", default={}),
        "anthropic": _vendor(
            "https://api.anthropic.com",
            "ANTHROPIC_API_KEY",
            {
                "chain_on_max_tokens": Key(
                    boolean(), "Continue by itself when the output limit is hit.", default=True
                ),
                "beta_headers": Key(ListOf(text(), "append"), "Beta features to ask for.", default=NO_ITEMS),
            },
        ),
        "cerebras": _vendor("https://api.cerebras.ai", "CEREBRAS_API_KEY"),
        "deepseek": _vendor("https://api.deepseek.com", "DEEPSEEK_API_KEY"),
        "google": _vendor("https://generativelanguage.googleapis.com/v1beta", "GEMINI_API_KEY"),
        "llamacpp": _vendor("http://127.0.0.1:8080"),
        "ollama": _vendor("http://localhost:11434"),
        "openai": _vendor(
            "https://api.openai.com",
            "OPENAI_API_KEY",
            {
                "base_url_env": Key(
                    text(), "The environment variable that overrides `base_url`.", default="OPENAI_BASE_URL"
                )
            },
        ),
        "openrouter": _openrouter(),
    }
)

_MCP_SERVER = table(
    {
        "type": Key(choice("stdio"), "How the server is reached.", required=True),
        "command": Key(text(), "The program to start.", required=True),
        "arguments": Key(ListOf(text(), "append"), "Its arguments.", default=NO_ITEMS, spellings=("args",)),
        "variables": Key(
            ListOf(text(), "append"),
            "The environment variables that it needs.",
            default=NO_ITEMS,
            spellings=("env",),
        ),
        "checksum": Key(CHECKSUM, "What the program must be.", spellings=("binary_checksum",)),
        "optional": Key(boolean(), "Go on without the server when it does not start.", default=False),
        "startup_timeout_secs": Key(
            whole(), "Seconds that the server has to start; 0 for no limit.", default=DEFAULT_STARTUP_TIMEOUT
        ),
    }
)

PROVIDERS: Table = table(
    {
        "llm": section(LLM, "Model vendors."),
        "mcp": Key(map_of(_MCP_SERVER), "Servers of tools.", default={}),
    }
)

_PLUGIN = table(
    {
        "install": Key(boolean(), "Whether it is installed by itself."),
        "run": Key(choice("ask", "unattended", "deny"), "Whether it may run."),
        "checksum": option(CHECKSUM, "What the program must be."),
        "options": Key(JSON_MAP, "Values handed to the plugin.", default={}),
    }
)

PLUGINS = table(
    {
        "auto_install": Key(boolean(), "Install plugins when they are first needed.", default=True),
        "shutdown_timeout_secs": Key(whole(), "Seconds that a plugin has to end.", default=5),
        "command": Key(map_of(_PLUGIN), "Commands that plugins add.", default={}),
    }
)
