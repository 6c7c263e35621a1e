"""The chat view's page as its reader meets it: in a real browser, with real keys, in every theme."""

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, expect, sync_playwright

from tests.support.chromium import CHROMIUM_FLAGS, chromium_path
from tests.support.page_scenes import ANSWER, SCENES, rich_turn
from tests.support.page_talk import MENU_BUTTONS, RUN_BUTTONS, Talk, context, opened
from tests.support.vscode_extension import EXTENSION
from tests.support.vscode_page import THEMES, ChatPage, build_page, serve_page

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("vscode")]

WIDTHS = (320, 480, 800)
CODE = ANSWER.partition("```python\n")[2].partition("```")[0]


@pytest.fixture(scope="module")
def address() -> Generator[str]:
    build_page()
    with serve_page() as url:
        yield url


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    path = chromium_path()
    with sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=path, headless=True, args=list(CHROMIUM_FLAGS))
        yield started
        started.close()


@pytest.fixture
def chat(browser: Browser, address: str) -> Generator[ChatPage]:
    with browser.new_context() as separate:
        page = ChatPage(separate.new_page(), address)
        yield page
        assert page.problems == []


def waiting(page: ChatPage) -> Talk:
    """Show a call that waits for its approval."""
    talk = Talk().ask("Run the tests").answer().call("c1", "run_tests", {"target": "tests"})
    talk.prompt("d1", "approval", "Run local tool run_tests?", *RUN_BUTTONS, callId="c1")
    page.send(opened(), *talk.take())
    return talk


# How it looks


def test_the_button_of_a_failure_is_below_its_words(chat: ChatPage) -> None:
    failed = {"type": "failed", "token": "q1", "message": "No.", "action": {"id": "log", "title": "Log"}}
    chat.send(opened(), Talk().ask("Well?").messages[0], failed)
    edges = "(all) => all.map((each) => each.getBoundingClientRect().left)"
    words, button = chat.tab.locator(".failure strong, .failure button").evaluate_all(edges)
    assert words == button


@pytest.mark.parametrize("scene", SCENES)
def test_no_scene_has_a_serious_fault_of_accessibility(browser: Browser, address: str, scene: str) -> None:
    with browser.new_context(reduced_motion="reduce") as separate:
        page = ChatPage(separate.new_page(), address, width=min(WIDTHS))
        page.send(*SCENES[scene])
        assert page.tab.evaluate("document.documentElement.scrollWidth") == min(WIDTHS)
        keep_pictures(page, scene)
        page.tab.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
        page.settle()
        for theme in THEMES:
            page.dress(theme)
            assert page.faults() == [], theme
        assert page.problems == []


def keep_pictures(page: ChatPage, scene: str) -> None:
    """Take pictures in every theme and width, if `JP_SCREENSHOTS` names a folder for them."""
    folder = os.environ.get("JP_SCREENSHOTS")
    if folder is None:
        return
    for theme in THEMES:
        page.dress(theme)
        for width in WIDTHS:
            page.tab.set_viewport_size({"width": width, "height": 800})
            page.settle()
            page.tab.screenshot(path=Path(folder) / f"page {scene} {theme} {width}.png")
    page.tab.set_viewport_size({"width": min(WIDTHS), "height": 800})


# What a model writes


def test_markup_of_a_model_stays_text(chat: ChatPage) -> None:
    evil = (
        '<img src=x onerror="window.hit = 1"><script>window.hit = 1</script>\n\n'
        "[a](javascript:window.hit=1) [b](command:jp.x) [c](data:text/html,x) ![d](https://evil.example/?q=1)\n\n"
        '```"><img src=x onerror="window.hit=1">\n</code><img src=x onerror="window.hit=1">\n```'
    )
    chat.send(opened(), *Talk().ask("x").answer().say(evil).call("c", evil, {evil: evil}).messages)
    chat.tab.evaluate("document.querySelectorAll('.prose a').forEach(each => each.click())")
    assert chat.tab.evaluate("window.hit") is None
    assert chat.tab.locator(".turns img, .turns script").count() == 0
    assert chat.posted("openUri") == [{"type": "openUri", "uri": "https://evil.example/?q=1"}]


def test_links_and_code_go_to_the_host(chat: ChatPage) -> None:
    chat.send(opened(), *rich_turn().messages)
    chat.forget()
    chat.tab.get_by_role("link", name="cache.py").click()
    block = chat.tab.locator(".code", has_text="def load")
    for name in ("Copy", "Insert at cursor", "Apply as edit"):
        block.get_by_role("button", name=name).click()
    link, copy, insert, apply = chat.posted()
    assert link == {"type": "openUri", "uri": "src/cache.py"}
    assert copy == {"type": "copy", "text": CODE}
    assert insert == {"type": "insert", "text": copy["text"]}
    assert apply == {"type": "apply", "text": copy["text"], "language": "python"}


# Questions


@pytest.mark.requirement("R3", "F39", "T12")
def test_an_approval_is_answered_by_keyboard_beside_its_call(chat: ChatPage) -> None:
    talk = waiting(chat)
    assert chat.tab.locator('[data-call="c1"] .prompt').count() == 1
    assert "Question: Run local tool run_tests?" in chat.said()
    assert '"target": "tests"' in chat.tab.locator('[data-call="c1"] code').inner_text()
    chat.press("Control+.")
    assert chat.focused() == "Skip"
    chat.press("Tab")
    assert chat.focused() == "Run"
    chat.press("Enter")
    assert chat.posted("answer") == [{"type": "answer", "decisionId": "d1", "action": "run"}]
    talk.close("d1").result("c1", "run_tests", "ok").say("Done.").end()
    chat.send(*talk.take())
    assert chat.tab.locator(".prompt").count() == 0
    assert chat.focused() == "Your question"


def test_a_question_that_comes_while_somebody_writes_takes_no_key(chat: ChatPage) -> None:
    chat.send(opened(), {"type": "focus"})
    chat.tab.keyboard.type("half a sen")
    waiting_talk = Talk().ask("Run").answer().call("c1", "run_tests", {})
    waiting_talk.prompt("d1", "approval", "Run local tool run_tests?", "Skip", "Run", callId="c1")
    chat.send(*waiting_talk.messages)
    chat.tab.keyboard.type("tence")
    assert chat.focused() == "Your question"
    assert chat.tab.locator(".question").input_value() == "half a sentence"
    assert chat.posted("answer") == []


def test_a_skip_with_its_reason_is_asked_for_where_the_call_stands(chat: ChatPage) -> None:
    talk = waiting(chat)
    chat.tab.get_by_role("button", name="Reason for skipping").click()
    assert chat.posted("answer")[-1]["action"] == "reason"
    talk.close("d1").prompt("d2", "text", "Why skip run_tests?", callId="c1")
    chat.send(*talk.take())
    assert chat.focused() == "Why skip run_tests?"
    chat.tab.keyboard.type("not now")
    chat.press("Enter")
    assert chat.posted("answer")[-1] == {"type": "answer", "decisionId": "d2", "text": "not now"}


def test_escape_dismisses_a_text_and_never_an_approval(chat: ChatPage) -> None:
    waiting(chat)
    chat.press("Control+.", "Escape")
    assert chat.posted("answer") == []
    assert chat.focused() == "Your question"
    chat.send(*Talk("q2").prompt("d2", "text", "Your reply").messages)
    chat.tab.get_by_role("textbox", name="Your reply").press("Escape")
    assert chat.posted("answer") == [{"type": "answer", "decisionId": "d2"}]


def test_a_secret_is_hidden_and_leaves_no_trace(chat: ChatPage) -> None:
    talk = Talk().ask("Deploy").answer().call("c1", "deploy", {})
    talk.prompt("d1", "secret", "deploy: Password", callId="c1")
    chat.send(opened(), *talk.take())
    field = chat.tab.get_by_label("deploy: Password").locator("input")
    assert field.get_attribute("type") == "password"
    field.fill("hunter2")
    field.press("Enter")
    assert chat.posted("answer") == [{"type": "answer", "decisionId": "d1", "text": "hunter2"}]
    chat.send({"type": "promptClosed", "decisionId": "d1"})
    assert "hunter2" not in chat.tab.content()


def test_arguments_and_results_open_in_the_editor(chat: ChatPage) -> None:
    edit = {"path": "a.py", "version": "1", "edits": [{"old": "a\n", "new": "b\n"}]}
    talk = Talk().ask("Edit").answer().call("c1", "editor_edit_file", edit, source="builtin")
    talk.prompt("d1", "approval", "Run builtin tool editor_edit_file?", *RUN_BUTTONS, callId="c1")
    chat.send(opened(), *talk.take())
    assert chat.tab.locator('[data-call="c1"] code').inner_text() == "- a\n+ b"
    chat.forget()
    for name in ("Show diff", "Open the arguments of editor_edit_file", "Edit arguments..."):
        chat.tab.get_by_role("button", name=name).click()
    talk.close("d1").prompt("d2", "edit", "Arguments of editor_edit_file", value="{}", callId="c1")
    chat.send(*talk.take())
    talk.close("d2").result("c1", "editor_edit_file", "done")
    chat.send(*talk.take())
    chat.tab.locator('[data-call="c1"] summary').click()
    chat.tab.get_by_role("button", name="Open the result of editor_edit_file").click()
    assert chat.posted() == [
        {"type": "diff", "callId": "c1"},
        {"type": "openArguments", "callId": "c1"},
        {"type": "answer", "decisionId": "d1", "action": "edit"},
        {"type": "editArguments", "decisionId": "d2"},
        {"type": "openResult", "callId": "c1"},
    ]


# Interrupts


@pytest.mark.requirement("R6", "R11")
def test_escape_opens_the_menu_and_escape_again_ends_the_turn(chat: ChatPage) -> None:
    talk = Talk().ask("Tell me").answer().say("One.")
    chat.send(opened(), {"type": "focus"}, *talk.take())
    chat.press("Escape")
    assert chat.posted("interrupt") == [{"type": "interrupt", "token": "q1"}]
    talk.prompt("m1", "menu", "The answer is interrupted.", *MENU_BUTTONS)
    chat.send(*talk.take())
    assert chat.focused() == "Continue"
    chat.press("Escape")
    assert len(chat.posted("interrupt")) == 2
    chat.press("Tab", "Enter")
    assert chat.posted("answer") == [{"type": "answer", "decisionId": "m1", "action": "reply"}]


def test_a_menu_does_not_take_the_keys_of_a_draft(chat: ChatPage) -> None:
    talk = Talk().ask("Tell me").answer().say("One.")
    chat.send(opened(draft="and then"), {"type": "focus"}, *talk.take())
    chat.press("Escape")
    chat.send(*talk.prompt("m1", "menu", "The answer is interrupted.", *MENU_BUTTONS).take())
    chat.tab.keyboard.type(" what?")
    assert chat.tab.locator(".question").input_value() == "and then what?"


# The input


def test_enter_sends_and_up_brings_it_back(chat: ChatPage) -> None:
    chat.send(opened(Talk().ask("The first").answer().say("Yes.").chunks), {"type": "focus"})
    chat.tab.keyboard.type("one")
    chat.press("Shift+Enter")
    chat.tab.keyboard.type("two")
    chat.press("Enter")
    assert chat.posted("ask") == [{"type": "ask", "text": "one\ntwo"}]
    field = chat.tab.locator(".question")
    assert field.input_value() == ""
    chat.send(*Talk().ask("one\ntwo").end().messages)
    for key, text in [
        ("ArrowUp", "one\ntwo"),
        ("ArrowUp", "The first"),
        ("ArrowUp", "The first"),
        ("ArrowDown", "one\ntwo"),
        ("ArrowDown", ""),
    ]:
        chat.press(key)
        assert field.input_value() == text, key


def test_a_draft_is_told_kept_and_given_back(chat: ChatPage) -> None:
    chat.send(opened(draft="from before"))
    field = chat.tab.locator(".question")
    assert field.input_value() == "from before"
    field.fill("")
    with chat.tab.expect_event("console") as line:
        chat.tab.evaluate(
            """() => {
              const push = window.posted.push.bind(window.posted);
              window.posted.push = each => { push(each); console.info(each.text); };
            }"""
        )
        field.fill("half")
    assert line.value.text == "half"
    failed = {"type": "failed", "token": "q1", "message": "Busy.", "draft": "lost?"}
    chat.send(Talk().ask("lost?").messages[0], failed)
    assert field.input_value() == "half"
    field.fill("")
    chat.send(Talk("q2").ask("lost?").messages[0], {**failed, "token": "q2"})
    assert field.input_value() == "lost?"


def test_typing_anywhere_goes_to_the_input(chat: ChatPage) -> None:
    chat.send(opened(rich_turn().chunks))
    chat.tab.get_by_role("main").focus()
    chat.tab.keyboard.type("hello")
    assert chat.tab.locator(".question").input_value() == "hello"


def test_every_control_can_be_reached_and_shows_its_focus(chat: ChatPage) -> None:
    chip = {"uri": "file:///a.py", "label": "a.py"}
    chat.send(opened(rich_turn().chunks), context(chip, model="test/big"), {"type": "focus"})
    reached: list[str] = []
    for _ in range(40):
        chat.press("Tab")
        reached.append(chat.focused())
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        is_page = chat.tab.evaluate("document.activeElement === document.body")
        assert is_page or "Your question" in reached[-1] or chat.tab.evaluate(outline) != "none", reached[-1]
    for name in (
        "Attach a file",
        "Model: test/big",
        "Remove a.py",
        "New conversation",
        "Conversation",
        "Copy",
    ):
        assert name in reached, name


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Attach a file", {"type": "attach"}),
        ("Remove a.py", {"type": "removeChip", "uri": "file:///a.py"}),
        ("Model: test/big", {"type": "pickModel"}),
        ("Persona: default", {"type": "pickPersona"}),
        ("New conversation", {"type": "newConversation"}),
        ("Go on", {"type": "resume"}),
        ("Install", {"type": "serverAction", "id": "install"}),
    ],
)
def test_buttons_tell_the_host(chat: ChatPage, name: str, told: dict[str, str]) -> None:
    chip = {"uri": "file:///a.py", "label": "a.py"}
    action = {"id": "install", "title": "Install"}
    missing = {"type": "server", "status": "missing", "message": "No server.", "action": action}
    unfinished = {"type": "unfinished", "calls": ["run_tests"]}
    chat.send(opened(), context(chip, model="test/big"), missing, unfinished)
    chat.forget()
    chat.tab.get_by_role("button", name=name, exact=True).click()
    assert chat.posted() == [told]


# Streaming


@pytest.mark.requirement("R2")
def test_ten_thousand_chunks_lose_no_key_and_end_complete(chat: ChatPage) -> None:
    chat.send(opened(), {"type": "focus"}, *Talk().ask("Write a lot").answer().messages)
    words = "The quick brown fox jumps over the lazy dog. " * 12
    chat.tab.evaluate(
        """() => {
          let seq = 4;
          const chunk = md => ({v: 1, seq: ++seq, turn: "q1", cycle: 1, class: "durable", type: "text", md,
                                region: "message", block: "paragraph", part: "whole", indent: 0});
          const step = done => {
            const chunks = [];
            for (let i = 0; i < 50; i++) {
              const n = seq;
              chunks.push(chunk(n % 7 === 0 ? `\\n\\nParagraph ${n} with **bold** and \\`code\\`.` : ` word${n}`));
            }
            window.postMessage({type: "chunks", token: "q1", chunks}, "*");
            if (seq < 10004) setTimeout(step, 5, done); else done();
          };
          window.streamed = new Promise(step);
        }"""
    )
    chat.tab.keyboard.type(words)
    chat.tab.evaluate("window.streamed")
    chat.settle()
    chat.tab.get_by_text("Paragraph 10003 with").wait_for()
    assert chat.tab.locator(".question").input_value() == words
    assert chat.tab.locator(".speech.assistant .block").count() == 1430
    away = chat.tab.evaluate(
        "() => { const at = document.querySelector('main'); return at.scrollHeight - at.scrollTop - at.clientHeight; }"
    )
    assert away < 32


def test_a_reader_who_looks_back_stays_there(chat: ChatPage) -> None:
    talk = Talk().ask("Write a lot").answer()
    for number in range(60):
        talk.say(f"Paragraph {number}.")
    chat.send(opened(), *talk.take())
    jump = chat.tab.get_by_role("button", name="Jump to latest")
    assert jump.count() == 0
    chat.tab.evaluate("document.querySelector('main').scrollTop = 100")
    jump.wait_for()
    talk.say("More.").say("And more.")
    chat.send(*talk.take())
    assert chat.tab.evaluate("document.querySelector('main').scrollTop") == 100
    jump.click()
    jump.wait_for(state="detached")
    chat.send(*talk.say("The last.").take())
    assert chat.tab.get_by_text("The last.").is_visible()


def many_calls(count: int = 50) -> Talk:
    talk = Talk().ask("Greet everybody").answer()
    for number in range(count):
        talk.call(f"c{number}", "greet", {"who": f"Person {number}"})
    return talk.prompt("d0", "approval", "Run local tool greet?", *RUN_BUTTONS, callId="c0")


def answered(talk: Talk, number: int) -> Talk:
    talk.close(f"d{number}").result(f"c{number}", "greet", "hello")
    talk.messages.append({"type": "promptClosed", "decisionId": f"d{number}"})
    return talk


@pytest.mark.requirement("R328")
def test_the_question_about_the_first_of_many_calls_is_in_view(chat: ChatPage) -> None:
    talk = many_calls()
    chat.send(opened(), *talk.take())
    question = chat.tab.locator(".prompt")
    assert in_view(question)
    assert in_view(chat.tab.locator("[data-call=c0]")), "its arguments are, too"
    question.get_by_role("button", name="Run", exact=True).click()
    answered(talk, 0).prompt("d1", "approval", "Run local tool greet?", *RUN_BUTTONS, callId="c1")
    chat.send(*talk.take())
    assert in_view(question)
    chat.tab.locator("main").hover()
    chat.tab.mouse.wheel(0, 900)
    expect(question).not_to_be_in_viewport()
    answered(talk, 1).prompt("d2", "approval", "Run local tool greet?", *RUN_BUTTONS, callId="c2")
    chat.send(*talk.take())
    assert not in_view(question), "a reader who looks elsewhere stays there"


def test_after_the_last_question_the_answer_is_followed(chat: ChatPage) -> None:
    talk = many_calls()
    chat.send(opened(), *talk.take())
    chat.tab.locator(".prompt").get_by_role("button", name="Run", exact=True).click()
    chat.send(*answered(talk, 0).say("All are greeted.").take())
    chat.tab.get_by_role("button", name="Jump to latest").wait_for(state="detached")
    assert in_view(chat.tab.get_by_text("All are greeted."))


def in_view(locator: Locator) -> bool:
    """Tell whether something stands wholly between the top and the bottom of the transcript."""
    box, area = locator.bounding_box(), locator.page.locator("main").bounding_box()
    assert box is not None
    assert area is not None
    below = box["y"] + box["height"] - area["y"] - area["height"]
    return box["y"] >= area["y"] - 1 and below <= 1


@pytest.mark.parametrize(("paragraphs", "jumps"), [(1, 0), (60, 1)])
def test_a_place_that_is_shown_leaves_the_end_only_where_it_is_out_of_sight(
    chat: ChatPage, paragraphs: int, jumps: int
) -> None:
    talk = Talk().ask("Find this").answer()
    for number in range(paragraphs):
        talk.say(f"Paragraph {number}.")
    chat.send(opened(talk.end().chunks))
    chat.send({"type": "reveal", "turn": 1, "scope": "user", "text": "Find this"})
    assert in_view(chat.tab.locator(".found"))
    expect(chat.tab.get_by_role("button", name="Jump to latest")).to_have_count(jumps)


def test_a_table_is_scrolled_rather_than_broken_within_words(chat: ChatPage) -> None:
    chat.tab.set_viewport_size({"width": min(WIDTHS), "height": 800})
    row = "| " + " | ".join(["understandable"] * 6) + " |\n"
    chat.send(opened(), *Talk().ask("x").answer().say(row + "| --- " * 6 + "|\n" + row).messages)
    cell = chat.tab.locator(".table td").first
    assert cell.evaluate("at => at.clientHeight < 2 * parseFloat(getComputedStyle(at).lineHeight)")
    assert chat.tab.locator(".table").evaluate("at => at.scrollWidth > at.clientWidth")
    assert chat.tab.evaluate("document.documentElement.scrollWidth") == min(WIDTHS)


def test_the_button_for_the_model_names_the_one_that_answers(chat: ChatPage) -> None:
    chat.send(opened(), context())
    assert chat.tab.get_by_role("button", name="Model: default").is_visible()
    chat.send(*Talk().ask("x").answer("test/small").say("Yes.").end().messages)
    assert chat.tab.get_by_role("button", name="Model: test/small").is_visible()
    chat.send(context(model="test/big"))
    assert chat.tab.get_by_role("button", name="Model: test/big").is_visible()


def test_what_a_reader_has_unfolded_and_selected_stays_so_while_text_comes(chat: ChatPage) -> None:
    talk = Talk().ask("Look").answer().say("Hm.", "reasoning").say("```python\nfirst = 1")
    chat.send(opened(), *talk.take())
    chat.tab.locator(".reasoning summary").click()
    chat.tab.get_by_role("button", name="Copy").focus()
    talk.chunk("durable", "code", md="\nsecond = 2", region="message", part="line", indent=0)
    chat.send(*talk.take())
    assert "second = 2" in chat.tab.locator(".code code").inner_text()
    assert chat.focused() == "Copy"
    assert chat.tab.locator(".reasoning").get_attribute("open") is not None


def test_the_live_region_speaks_at_ends_and_not_at_words(chat: ChatPage) -> None:
    talk = Talk().ask("Tell me").answer()
    chat.send(opened(), *talk.take())
    assert chat.said() == "Sent."
    for word in ("It", "is", "done"):
        talk.say(word)
    chat.send(*talk.take())
    assert chat.said() == "Sent."
    talk.end(text="It is done.")
    chat.send(*talk.take())
    assert chat.said() == "Answered. It is done."


def test_the_page_is_small_and_names_what_it_contains(address: str) -> None:
    assert (EXTENSION / "dist" / "page.js").stat().st_size < 250_000
    notices = (EXTENSION / "dist" / "THIRD-PARTY-NOTICES.txt").read_text("utf-8")
    for package in ("highlight.js", "markdown-it", "preact"):
        assert f"\n{package} " in notices
