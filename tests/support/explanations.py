"""What queries would send, for tests of how that is told."""

from jp_lsp.conversation.event import ChatRequest
from jp_lsp.conversation.section import Section
from jp_lsp.conversation.thread import BinaryAttachment, TextAttachment
from jp_lsp.tools.definition import NamedTool, Parameter, ToolDefinition
from jp_lsp.tools.spec import BuiltinSource, Command, LocalSource, McpSource, ToolSpec
from jp_lsp.turn.explanation import Explanation, Place, ValueOrigin

BARE = Explanation("test/big", None, (), (), (), ChatRequest("hi"), "auto", 0, ())
GREET = ToolDefinition(
    "greet", {"name": Parameter("string", required=True, summary="Whom")}, "Greets", "At length"
)
FULL = Explanation(
    "test/big",
    "Be brief.\x1b[1m",
    (Section("Do.", "instruction", "Rules"), Section("More.")),
    (
        ToolSpec(GREET, LocalSource("greet", Command("echo"))),
        ToolSpec(ToolDefinition("find", {}, None, "Finds", {"type": "object"}), McpSource("web", "search")),
        ToolSpec(ToolDefinition("ask_user", {}), BuiltinSource("ask_user")),
    ),
    (TextAttachment("a.py", "é", "The file"), BinaryAttachment("b.png", b"123", "image/png")),
    ChatRequest("hi", {"type": "object"}),
    NamedTool("greet"),
    4,
    (
        ValueOrigin("assistant.name", "Ada", (Place("workspace", ".jp/config.toml", 3),)),
        ValueOrigin(
            "assistant.instructions", [1], (Place("user_global", "a", None), Place("request", "--cfg b"))
        ),
    ),
    ("MCP servers were started: web.",),
    {"gone": "its server did not start"},
)
