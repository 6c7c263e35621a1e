"""Tools as a user meets them: allowed or not, edited, asked by, interrupted, cut off and taken up again."""

import asyncio
import base64
import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.chat_vendor import ChatVendor, answer, called
from tests.support.jp_client import result_of
from tests.support.jp_server import JpServer, initialized_server
from tests.support.screen import Screen, Shown
from tests.support.shell_tools import calls, with_tools
from tests.support.user_folders import UserFolders

pytestmark = [pytest.mark.asyncio, pytest.mark.e2e]

STOCK: dict[str, Any] = {
    "window": {"showMessage": {"messageActionItem": {"additionalPropertiesSupport": True}}}
}


def choose(question: Shown, title: str) -> None:
    """Press the button of a message request."""
    button = next(
        each for each in question.params["actions"] if each["title"].removesuffix(" (default)") == title
    )
    question.answer(button)


def screen_of(server: JpServer) -> Screen:
    screen = Screen()
    server.client.answers["window/showMessageRequest"] = screen.show
    return screen


@pytest.mark.requirement("S2", "R94", "R302", "R276", "F39")
async def test_a_tool_is_allowed_and_another_is_not(own_user: UserFolders, vendor: ChatVendor) -> None:
    with_tools(own_user, greet=("echo hello", {"run": "ask"}), harm=("touch harmed", {"run": "ask"}))
    vendor.will_answer(calls("greet", "harm"), answer("Done."))
    async with initialized_server(own_user, capabilities=STOCK) as server:
        screen = screen_of(server)
        _, future = server.client.start_query("go", "t")
        first = await screen.next_question()
        assert first.params["message"] == "Run local tool greet?"
        assert first.params["actions"][0]["title"] == "Skip"
        # What the question is about has been shown before it.
        assert any(chunk["type"] == "tool_call" for chunk in server.client.chunks("t"))
        choose(first, "Run")
        second = await screen.next_question()
        assert second.params["message"] == "Run local tool harm?"
        second.answer(None)
        result = await result_of(future)
    assert (result["outcome"], result["text"]) == ("completed", "Done.")
    assert not (own_user.workspace / "harmed").exists()
    told = [message for message in vendor.queries[-1]["messages"] if message["role"] == "tool"]
    assert [message["content"].strip() for message in told] == ["hello", "Tool skipped by user."]


@pytest.mark.requirement("R13", "T10", "S2")
async def test_two_slow_tools_take_as_long_as_one(own_user: UserFolders, vendor: ChatVendor) -> None:
    """Each waits for the other: neither could end if they ran one after the other."""
    wait = "touch {me}; for i in $(seq 100); do test -e {other} && exit 0; sleep 0.05; done; exit 1"
    with_tools(
        own_user,
        one=(wait.format(me="a", other="b"), {"run": "unattended"}),
        two=(wait.format(me="b", other="a"), {"run": "unattended"}),
    )
    vendor.will_answer(calls("one", "two"), answer("Done."))
    async with initialized_server(own_user) as server:
        result = await server.client.query("go", "t")
    assert [line.split()[0] for line in own_user.story(result["conversation"])[4:6]] == ["result", "result"]


@pytest.mark.requirement("T10")
async def test_fifty_calls_in_one_answer(own_user: UserFolders, vendor: ChatVendor) -> None:
    with_tools(own_user, count=("echo one", {"run": "unattended"}))
    vendor.will_answer(calls(*["count"] * 50), answer("Done."))
    async with initialized_server(own_user) as server:
        result = await server.client.query("go", "t")
    assert sum(line.startswith("result ") for line in own_user.story(result["conversation"])) == 50
    told = [
        message["tool_call_id"] for message in vendor.queries[-1]["messages"] if message["role"] == "tool"
    ]
    assert told == [f"call-{number}" for number in range(50)]


def with_asking_tool(user: UserFolders) -> None:
    """Configure a tool that asks before it says what it was told."""
    script = user.workspace / "ask.py"
    script.write_text(
        "import json, sys\n"
        "answers = json.loads(sys.argv[1])\n"
        "question = {'id': 'sure', 'text': 'Really?', 'answer_type': 'boolean', 'default': False}\n"
        "print('sure: ' + str(answers['sure']) if 'sure' in answers\n"
        "      else json.dumps({'type': 'needs_input', 'question': question}))\n",
        encoding="utf-8",
    )
    command = f'{shlex.quote(sys.executable)} ask.py "{{{{tool.answers | tojson}}}}"'
    with_tools(user, ask=(command, {"run": "unattended"}))


@pytest.mark.requirement("R151")
async def test_a_model_answers_a_tool_in_the_form_that_was_asked_for(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    with_asking_tool(own_user)
    with (own_user.config / "config.toml").open("a", encoding="utf-8") as file:
        file.write('[conversation.tools.ask.questions.sure]\ntarget = "assistant"\n')
    vendor.will_answer(
        calls("ask"), answer('{"answer": "perhaps"}'), answer('{"answer": true}'), answer("Done.")
    )
    async with initialized_server(own_user, capabilities=STOCK) as server:
        result = await server.client.query("go", "t")
    assert result["text"] == "Done."
    _, asked, asked_again, last = vendor.queries
    assert last["messages"][-1]["content"] == "sure: True\n"
    assert "Really?" in asked["messages"][-1]["content"]
    assert "'perhaps' is not of type 'boolean'" in asked_again["messages"][-1]["content"]


@pytest.mark.requirement("R151")
async def test_a_tool_asks_and_goes_on_with_the_answer(own_user: UserFolders, vendor: ChatVendor) -> None:
    with_asking_tool(own_user)
    vendor.will_answer(calls("ask"), answer("Done."))
    async with initialized_server(own_user, capabilities=STOCK) as server:
        screen = screen_of(server)
        _, future = server.client.start_query("go", "t")
        question = await screen.next_question()
        assert "Really?" in question.params["message"]
        choose(question, "Yes")
        result = await result_of(future)
    story = own_user.story(result["conversation"])
    assert story[3:5] == ["inquiry_request", "inquiry_response"]
    content = own_user.events(result["conversation"])[5]["content"]
    assert base64.b64decode(content) == b"sure: True\n"


@pytest.mark.requirement("R133", "R141", "S8")
async def test_a_press_while_a_tool_runs(own_user: UserFolders, vendor: ChatVendor) -> None:
    with_tools(own_user, slow=("touch began; sleep 600", {"run": "unattended"}))
    vendor.will_answer(calls("slow"))
    async with initialized_server(own_user, capabilities=STOCK) as server:
        screen = screen_of(server)
        _, future = server.client.start_query("go", "t")
        await until_exists(own_user.workspace / "began")
        pressed = await server.client.request("jp/interrupt", {"turn": "t"})
        assert pressed == {"handled": "menu", "phase": "interrupted_tools"}
        menu = await screen.next_question()
        assert menu.params["actions"][0]["title"] == "Continue"
        choose(menu, "Stop")
        result = await result_of(future)
    assert result["outcome"] == "stopped"
    story = own_user.story(result["conversation"])
    assert sum(line.endswith("call-0") for line in story) == 1


@pytest.mark.requirement("S11", "R16", "R179")
async def test_a_turn_that_was_cut_off_is_listed_and_taken_up_again(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    with_tools(
        own_user,
        fast=("echo fast >> ran; echo fast", {"run": "unattended"}),
        slow=("echo slow >> ran; test -e again && echo slow || sleep 600", {"run": "unattended"}),
    )
    vendor.will_answer(calls("fast", "slow"))
    async with initialized_server(own_user) as server:
        server.client.start_query("go", "t")
        begun = await server.client.wait_for_chunk("t", "turn_begin")
        conversation = begun["conversation"]
        await server.client.wait_for_chunk("t", "tool_result")
        await own_user.wait_for_story(conversation, lambda story: "result call-0" in story)
        await until_exists(own_user.workspace / "ran", "slow")
        server.process.kill()
    (own_user.workspace / "again").touch()
    vendor.will_answer(answer("Done."))
    async with initialized_server(own_user, capabilities=STOCK) as server:
        screen = screen_of(server)
        (unfinished,) = (await server.client.request("jp/turn/list"))["unfinished"]
        assert unfinished["conversation"] == conversation
        assert [(call["name"], call["state"]) for call in unfinished["calls"]] == [
            ("fast", "completed"),
            ("slow", "pending"),
        ]
        _, future = server.client.start("jp/query", {"conversation": conversation, "resume": True})
        question = await screen.next_question()
        assert "may have run already" in question.params["message"]
        choose(question, "Run")
        result = await result_of(future)
        assert (result["outcome"], result["text"]) == ("completed", "Done.")
        assert (await server.client.request("jp/turn/list"))["unfinished"] == []
    assert (own_user.workspace / "ran").read_text(encoding="utf-8").split() == ["fast", "slow", "slow"]
    assert own_user.story(conversation)[-2:] == ["result call-1", "message: Done."]


@pytest.mark.requirement("T05", "R306")
async def test_a_cloned_workspace_runs_nothing_before_it_is_trusted(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    (own_user.workspace / ".jp" / "config.toml").write_text(
        "[conversation.tools.evil]\n"
        'source = "local"\n'
        "enable = true\n"
        'run = "unattended"\n'
        'command = { program = "touch harmed", shell = true }\n',
        encoding="utf-8",
    )
    vendor.will_answer(answer("Nothing."), answer("Nothing."), calls("evil"), answer("Done."))
    async with initialized_server(own_user, capabilities=STOCK) as server:
        screen = screen_of(server)
        asked = asyncio.ensure_future(server.client.query("go", "t"))
        question = await screen.next_question()
        assert question.params["message"].startswith("Trust this workspace to run its programs?")
        question.answer(None)
        conversation = (await asked)["conversation"]
        assert "tools" not in vendor.queries[-1]
        _, future = server.client.start_query("again", "u", conversation=conversation, interactive=False)
        await result_of(future)
        assert "tools" not in vendor.queries[-1]
        asked = asyncio.ensure_future(server.client.query("now", "v", conversation=conversation))
        choose(await screen.next_question(), "Trust")
        assert not (own_user.workspace / "harmed").exists()
        await asked
    assert (own_user.workspace / "harmed").exists()


def configured(user: UserFolders, text: str) -> None:
    """Add to the user's configuration."""
    path = user.config / "config.toml"
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def one_call(name: str, **arguments: object) -> Any:
    return answer(called("call-0", name, json.dumps(arguments)), reason="tool_calls")


def told(vendor: ChatVendor) -> str:
    """What the model was last told by a tool."""
    return next(
        each["content"] for each in reversed(vendor.queries[-1]["messages"]) if each["role"] == "tool"
    )


@pytest.mark.requirement("R274", "R276")
async def test_the_assistant_asks_the_user(own_user: UserFolders, vendor: ChatVendor) -> None:
    configured(own_user, "[conversation.tools.ask_user]\nenable = true\n")
    vendor.will_answer(
        one_call("ask_user", question="Tabs?", answer_type="select", options=["tabs", "spaces"]),
        answer("Spaces it is."),
    )
    async with initialized_server(own_user, capabilities=STOCK) as server:
        screen = screen_of(server)
        _, future = server.client.start_query("go", "t")
        choose(await screen.next_question(), "spaces")
        result = await result_of(future)
    assert json.loads(told(vendor)) == {"answer_type": "select", "answer": "spaces"}
    asked = own_user.events(result["conversation"])[3]
    assert (asked["type"], asked["source"]) == ("inquiry_request", {"source": "assistant"})


@pytest.mark.requirement("R306")
async def test_a_tool_of_a_server_is_offered_allowed_and_called(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    script = Path(__file__).parents[1] / "support" / "mcp_server.py"
    configured(
        own_user,
        "[providers.mcp.scripted]\ntype = 'stdio'\n"
        f"command = {json.dumps(sys.executable)}\narguments = [{json.dumps(str(script))}, '{{}}']\n"
        "[conversation.tools.echo]\nsource = 'mcp.scripted.echo'\nenable = true\n",
    )
    vendor.will_answer(one_call("echo", text="hello"), answer("Done."))
    async with initialized_server(own_user, capabilities=STOCK) as server:
        screen = screen_of(server)
        _, future = server.client.start_query("go", "t")
        question = await screen.next_question()
        assert question.params["message"] == "Run mcp tool echo from server scripted?"
        choose(question, "Run")
        await result_of(future)
    assert "hello" in told(vendor)
    offered = [tool["function"]["name"] for tool in vendor.queries[0]["tools"]]
    assert offered == ["describe_tools", "echo"] or offered == ["echo", "describe_tools"]


@pytest.mark.requirement("T21", "T22")
async def test_a_file_is_read_as_the_editor_has_it_and_edited_through_the_editor(
    own_user: UserFolders, vendor: ChatVendor
) -> None:
    configured(
        own_user,
        "".join(
            f"[conversation.tools.{name}]\nenable = true\nrun = 'unattended'\n"
            for name in ("editor_read_file", "editor_edit_file")
        ),
    )
    path = own_user.workspace / "song.txt"
    path.write_text("la la\n", encoding="utf-8")
    edits: list[Any] = []

    def apply(params: Any) -> Any:
        edits.append(params)
        document = {"uri": path.as_uri(), "version": 3}
        changed = {"textDocument": document, "contentChanges": [{"text": "la la la!\n"}]}
        server.client.notify("textDocument/didChange", changed)
        return {"applied": True}

    vendor.will_answer(one_call("editor_read_file", path="song.txt"))
    capabilities = {**STOCK, "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}}}
    async with initialized_server(own_user, capabilities=capabilities) as server:
        document = {"uri": path.as_uri(), "languageId": "text", "version": 2, "text": "la la la\n"}
        server.client.notify("textDocument/didOpen", {"textDocument": document})
        server.client.answers["workspace/applyEdit"] = apply
        vendor.will_answer(answer("Read."))
        result = await server.client.query("read", "t")
        read = told(vendor)
        assert "la la la" in read
        assert "unsaved" in read
        version = read.split("(version ")[1].split(";")[0]
        edit = {"old": "la la la", "new": "la la la!"}
        vendor.will_answer(
            one_call("editor_edit_file", path="song.txt", version=version, edits=[edit]), answer("Edited.")
        )
        await server.client.query("edit", "u", conversation=result["conversation"])
        (sent,) = edits
        (change,) = sent["edit"]["documentChanges"]
        assert change["textDocument"] == {"uri": path.as_uri(), "version": 2}
        vendor.will_answer(
            one_call("editor_edit_file", path="song.txt", version=version, edits=[edit]), answer("Stale.")
        )
        await server.client.query("again", "v", conversation=result["conversation"])
        assert len(edits) == 1
        assert "version" in told(vendor)
    assert path.read_text(encoding="utf-8") == "la la\n"


async def until_exists(path: Path, text: str = "") -> None:
    """Wait for a file that holds a text."""
    async with asyncio.timeout(30):
        while not (path.exists() and text in path.read_text(encoding="utf-8")):
            await asyncio.sleep(0.02)
