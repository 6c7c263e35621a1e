"""What a workspace in all four formats makes of a query: the whole system text, attachments and tools, over stdio."""

from typing import Any

import pytest

from tests.support.chat_vendor import ChatVendor, answer
from tests.support.jp_client import JpClient
from tests.support.jp_server import initialized_server
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

FILES = {
    ".jp/config.toml": """
        extends = ["parts/base.yaml", "tools/**/*", { path = "parts/last.json5", strategy = "after" }]
        config_load_paths = [".jp/roles"]
        conversation.attachments = ["file:Docs/a%20b.md"]
    """,
    ".jp/parts/base.yaml": """
        assistant:
          system_prompt: {value: "Base.\\n", strategy: replace}
          system_prompt_sections:
          - &rules {tag: rules, title: 'The "R" & <S>', content: "  a < b ]]> c  ", position: 5}
          - {title: Plain, content: "  text  \\n"}
          - {content: "  bare  ", position: -3}
          - {<<: *rules, tag: two words, content: x, position: 0}
        conversation:
          tools:
            "*": {run: unattended, enable: off}
    """,
    ".jp/parts/last.json5": """// last
        {assistant: {
          system_prompt: {value: 'Last.', strategy: 'append', separator: 'line',},
          instructions: [{title: 'T', description: ' D ', items: ['one', 'two\\nlines'], position: -1,
                          examples: ['ex', {good: 'g', bad: 'b', reason: 'r'}]}],
        }}
    """,
    ".jp/tools/fs/read.toml": """
        [conversation.tools.fs_read]
        source = "local"
        command = "cat {{tool.arguments.path}}"
        parameters.path = { type = "string", required = true }
    """,
    ".jp/tools/fs/more/note.yml": "conversation: {tools: {note: {source: local, command: echo, enable: explicit}}}",
    ".jp/roles/skills/deep.toml": """
        conversation.attachments = [
          { type = "file", path = "src/*.py" },
          { type = "file", path = "src/skip.py", params = { exclude = "1" } },
        ]
        [[assistant.system_prompt_sections]]
        tag = "deep"
        content = "S"
        position = -10
    """,
    ".jp/roles/reviewer.json": """{
        "extends": ["skills/*.toml"],
        "assistant": {"system_prompt": {"value": "Role.", "strategy": "prepend", "separator": "space"}},
        "conversation": {"tools": {"fs_read": {"enable": "always"}, "note": {"enable": true}}}
    }""",
    ".jp/roles/writer.toml": 'extends = ["skills/deep.toml"]\nassistant.name = "Writer"\n',
    "Docs/a b.md": "AB",
    "src/a.py": "a",
    "src/skip.py": "no",
    "src/z.py": "z",
}
PROMPT = "Base.\n\nLast."
STANDING = [
    "bare",
    '<instruction title="T">\nD\n\n- one\n- two\n  lines\n\n## Examples\n\nex\n\nGood: g\nBad: b\nReason: r\n</instruction>',
    "# Plain\n\n  text  \n",
    '<two words title="The &quot;R&quot; &amp; &lt;S&gt;">\nx\n</two words>',
    '<rules title="The &quot;R&quot; &amp; &lt;S&gt;">\n<![CDATA[a < b ]]]]><![CDATA[> c]]>\n</rules>',
]
DEEP = "<deep>\nS\n</deep>"


def system_texts(vendor: ChatVendor) -> list[str]:
    """The system messages of the last query, without attachments."""
    texts: list[str] = [
        each["content"] for each in vendor.queries[-1]["messages"] if each["role"] == "system"
    ]
    return [text for text in texts if not text.startswith("<documents>")]


def sources(vendor: ChatVendor) -> list[str]:
    texts = "\n".join(str(each["content"]) for each in vendor.queries[-1]["messages"]).split("\n")
    lines = [line.strip() for line in texts if "<source>" in line]
    return [line.removeprefix("<source>").removesuffix("</source>") for line in lines]


async def ask(client: JpClient, *names: str) -> Any:
    return await client.query("hi", "-".join(["t", *names]), conversation="new", config=names)


@pytest.mark.requirement("R44", "R224", "R237", "G33", "G36", "G39")
async def test_what_the_model_is_told(own_user: UserFolders, vendor: ChatVendor) -> None:
    for name, text in FILES.items():
        own_user.write(name, text)
    vendor.will_answer(answer("One."), answer("Two."), answer("Three."))
    async with initialized_server(own_user, options={"jp": {"trust": "always"}}) as server:
        await ask(server.client)
        assert system_texts(vendor) == [PROMPT, *STANDING]
        assert sources(vendor) == ["Docs/a b.md"]
        assert "tools" not in vendor.queries[-1]

        await ask(server.client, "reviewer")
        *texts, usage, rules = system_texts(vendor)
        assert [*texts, rules] == [f"Role. {PROMPT}", DEEP, *STANDING]
        assert usage.startswith('<instruction title="Tool Usage">\n- ')
        assert sources(vendor) == ["Docs/a b.md", "src/a.py", "src/z.py"]
        offered = [each["function"]["name"] for each in vendor.queries[-1]["tools"]]
        assert offered == ["note", "fs_read", "describe_tools"]

        await ask(server.client, "reviewer", "writer")
        assert system_texts(vendor) == [*texts, usage, rules]
        assert sources(vendor) == ["Docs/a b.md", "src/a.py", "src/z.py"]
