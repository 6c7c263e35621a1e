"""`cmd` attachments: what is run, and what the model sees of it."""

import pytest

from jp_lsp.conversation.thread import TextAttachment
from jp_lsp.ports.attachment import AttachmentEntry, AttachmentError
from jp_lsp.ports.process import Exited, Output, SpawnError, TimedOut
from tests.adapters.attachments.fetching import Folder, table, to_entry

pytestmark = pytest.mark.anyio

COMMANDS: dict[str, tuple[AttachmentEntry, list[str]]] = {
    "a line": (to_entry("cmd:git log -1 'a b'?description=x"), ["git", "log", "-1", "a b"]),
    "a line and arguments": (to_entry("cmd:git log?arg=-1"), ["git", "log", "-1"]),
    "a program": (to_entry("cmd://git?arg=log&arg[]=-1&args=a&args[]=b"), ["git", "log", "-1", "a", "b"]),
    "the letters keep their case": (to_entry("cmd://MyTool"), ["MyTool"]),
    "a path": (to_entry("cmd:///usr/bin/env?arg=x"), ["/usr/bin/env", "x"]),
    "decoded twice (trap 34)": (to_entry("cmd://printf?arg=%2541+b&arg=100%2525"), ["printf", "A b", "100%"]),
    "a table is meant literally (trap 34)": (
        table("cmd", "my tool", arg=["%41+b", "a b"], description="d"),
        ["my tool", "%41+b", "a b"],
    ),
    "another spelling of the scheme": (to_entry("CMD:ls"), ["ls"]),
}


@pytest.mark.parametrize("case", COMMANDS)
@pytest.mark.requirement("G34")
async def test_what_is_run(folder: Folder, case: str) -> None:
    entry, arguments = COMMANDS[case]
    await folder.fetch(entry)
    (program,) = folder.runner.programs
    assert list(program.arguments) == arguments
    assert (program.folder, program.timeout) == (str(folder.path), 60.0)


@pytest.mark.requirement("G62")
async def test_the_model_sees_both_outputs_and_the_code(folder: Folder) -> None:
    """Trap 62: an exit code is no failure."""
    folder.runner.end = Exited(1, Output(b"a <b> ]]>\n", 10), Output(b"oh & no", 7))
    fetched = await folder.fetch("cmd:git log?description=The+log")
    text = (
        "<Output>\n  <stdout>a &lt;b&gt; ]]&gt;\n</stdout>\n  <stderr>oh &amp; no</stderr>\n"
        "  <code>1</code>\n</Output>"
    )
    assert fetched.items == (TextAttachment("git log", text, "The log"),)
    assert fetched.warnings == ()


async def test_a_signal_counts_as_zero_and_silence_as_nothing(folder: Folder) -> None:
    folder.runner.end = Exited(-9, Output(), Output())
    (item,) = (await folder.fetch("cmd:x")).items
    assert item == TextAttachment("x", "<Output>\n  <code>0</code>\n</Output>")


async def test_output_that_was_cut_is_told(folder: Folder) -> None:
    folder.runner.end = Exited(0, Output(b"abc", 10), Output())
    assert (await folder.fetch("cmd:x")).warnings == (
        "Attachment 'cmd:x': the last 7 bytes of its standard output were left out.",
    )


@pytest.mark.parametrize(
    ("entry", "end", "text"),
    [
        ("cmd:x y", SpawnError("No such file or directory"), "failed to run command 'x y': No such file"),
        (
            "cmd:x",
            TimedOut(Output(), Output()),
            "command 'x' did not end within 60 s. Attach one that is quicker",
        ),
        ("cmd:", None, "names no command"),
        ("cmd://?arg=x", None, "names no command"),
        ("cmd:echo 'x", None, "is no command line: no closing quotation"),
    ],
)
async def test_what_cannot_be_run_ends_the_query(
    folder: Folder, entry: str, end: SpawnError | TimedOut | None, text: str
) -> None:
    if end is not None:
        folder.runner.end = end
    with pytest.raises(AttachmentError, match=text) as raised:
        await folder.fetch(entry)
    assert raised.value.entry == entry
    assert len(folder.runner.programs) == (end is not None)
