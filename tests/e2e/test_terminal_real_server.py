"""`jp-lsp query` with the real server and a vendor on the loopback: the whole way from a key to the disk."""

import re
import signal
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.chat_vendor import ChatVendor, answer, refused, thought
from tests.support.http_server import Hold, Reply
from tests.support.query_process import query_on_terminal, run_query, start_query
from tests.support.shell_tools import FREE, calls, with_tools
from tests.support.terminal_process import PATIENCE, PtyClient, wait_until
from tests.support.user_folders import UserFolders

pytestmark = pytest.mark.e2e


@pytest.fixture
def folders(tmp_path: Path, vendor: ChatVendor) -> UserFolders:
    return UserFolders(tmp_path, vendor.url)


@pytest.mark.requirement("R120")
def test_a_terminal_links_the_file_of_a_long_result(folders: UserFolders, vendor: ChatVendor) -> None:
    with_tools(folders, flood=("yes line | head -c 5000", FREE))
    with (folders.config / "config.toml").open("a", encoding="utf-8") as file:
        file.write('[conversation.tools.flood.style]\nresults_file_link = "osc8"\n')
    vendor.will_answer(calls("flood"), answer("Done."))
    with query_on_terminal(folders, "go") as client:
        assert client.wait() == 0
    linked = re.search(r"\x1b\]8;;file://(\S+)\x1b\\.*full result.*\x1b\]8;;\x1b\\", client.seen)
    assert linked is not None, client.seen
    assert Path(linked[1]).read_text(encoding="utf-8") == "line\n" * 1000


def stories(user: UserFolders) -> list[list[str]]:
    """Give what is stored of every conversation."""
    folders = sorted(folder for folder in user.conversations.iterdir() if folder.name[0].isdigit())
    return [user.story(f"jp-c{folder.name.split('-')[0]}") for folder in folders]


def is_stored(user: UserFolders, story: list[str]) -> bool:
    """Tell whether this is stored; half a save is never seen, but the two copies are written one by one."""
    try:
        return stories(user) == [story]
    except (AssertionError, ValueError, FileNotFoundError):
        return False


HALF = ["turn", "user: Why?", "message: The answer\n\nis"]
"""What is stored of a query whose answer ended in the middle."""


def half_an_answer() -> Reply:
    return answer("The answer\n\n", "is", Hold(), " 42")


@contextmanager
def half_answered(folders: UserFolders, vendor: ChatVendor) -> Generator[PtyClient]:
    """On a terminal, with the first paragraph of the answer on the screen and no end in sight."""
    vendor.will_answer(half_an_answer())
    with query_on_terminal(folders, "Why?") as client:
        client.wait_for("The answer")
        yield client


@pytest.mark.requirement("R340", "R326", "R325")
def test_a_query_and_another_in_the_same_conversation(folders: UserFolders, vendor: ChatVendor) -> None:
    (folders.workspace / "random.py").write_text("raise SystemExit('the folder of the user was imported')")
    vendor.will_answer(answer(thought("Hm."), "Be", "cause."), answer("Really."))

    assert run_query(folders, "Why?") == (0, "Because.\n", "")
    assert run_query(folders, given=b"Really?\n") == (0, "Really.\n", "")

    assert stories(folders) == [
        [
            "turn",
            "user: Why?",
            "reasoning: Hm.",
            "message: Because.",
            "turn",
            "user: Really?",
            "message: Really.",
        ]
    ]


@pytest.mark.requirement("R344")
def test_a_failed_query_says_why(folders: UserFolders, vendor: ChatVendor) -> None:
    vendor.will_answer(refused(401, "bad key"))
    code, out, err = run_query(folders, "Why?")
    assert (code, out) == (1, "")
    assert err.startswith("error: Authentication failed: ")
    assert "`jp-lsp doctor` says which key is used." in err


@pytest.mark.requirement("S4", "R6", "R136")
def test_the_menu_and_stop(folders: UserFolders, vendor: ChatVendor) -> None:
    with half_answered(folders, vendor) as client:
        client.type("\x03")
        client.wait_for("[s] Stop")
        client.type("s")
        assert client.wait() == 0
        assert "Stopped." in client.screen
        assert client.mode == client.found
    assert is_stored(folders, HALF)


@pytest.mark.requirement("S5", "R138", "R139", "S24")
def test_continue_and_then_reply(folders: UserFolders, vendor: ChatVendor) -> None:
    first, second = Hold(), Hold()
    vendor.will_answer(answer("One\n\n", first, "Two\n\n", second, "Three"), answer("Short."))
    with query_on_terminal(folders, "Count") as client:
        client.wait_for("One")
        client.type("\x03")
        client.wait_for("[c] Continue")
        client.type("c")
        first.open()
        client.wait_for("Two")
        client.type("\x03")
        client.wait_for("[r] Reply")
        client.type("r")
        client.wait_for("Your reply")
        client.type("Shorter\n")
        assert client.wait() == 0
        assert "Short." in client.screen
    (story,) = stories(folders)
    assert story == [
        "turn",
        "user: Count",
        "message: One\n\nTwo\n\n",
        "turn",
        "user: Shorter",
        "message: Short.",
    ]


@pytest.mark.requirement("S6", "R130", "R132")
def test_a_press_in_the_menu_ends_it_and_what_came_is_there(folders: UserFolders, vendor: ChatVendor) -> None:
    with half_answered(folders, vendor) as client:
        client.type("\x03")
        client.wait_for("[s] Stop")
        client.type("\x03")
        assert client.wait() == 130
        assert client.mode == client.found
    assert is_stored(folders, HALF)


@pytest.mark.requirement("R135", "R336", "S10")
def test_who_leaves_at_once_leaves_the_server_to_save(folders: UserFolders, vendor: ChatVendor) -> None:
    with half_answered(folders, vendor) as client:
        client.type("\x1c")
        assert client.wait() == 131
    wait_until(lambda: is_stored(folders, HALF))


@pytest.mark.requirement("R134", "S10")
def test_sigterm_keeps_what_came(folders: UserFolders, vendor: ChatVendor) -> None:
    vendor.will_answer(half_an_answer())
    with start_query(folders, "Why?", bufsize=0) as client:
        assert client.stdout is not None
        assert client.stdout.read(10) == b"The answer"
        client.send_signal(signal.SIGTERM)
        out, err = client.communicate(timeout=PATIENCE)
    assert (client.returncode, out, err) == (143, b"\n\nis\n", b"Stopped.\n")
    assert is_stored(folders, HALF)


@pytest.mark.requirement("R336")
def test_a_reader_that_goes_ends_the_turn_and_what_came_is_there(
    folders: UserFolders, vendor: ChatVendor
) -> None:
    hold, rest = Hold(), Hold()
    vendor.will_answer(answer("The answer\n\n", hold, "is\n\n", rest, " 42"))
    with start_query(folders, "Why?", bufsize=0) as client:
        assert client.stdout is not None
        assert client.stdout.read(10) == b"The answer"
        client.stdout.close()
        hold.open()
        assert client.wait(PATIENCE) == 141
    assert is_stored(folders, ["turn", "user: Why?", "message: The answer\n\nis\n\n"])
