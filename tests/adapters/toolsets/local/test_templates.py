"""Commands are filled in word by word, and no value becomes code."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jp_lsp.conversation.json_value import JsonValue
from jp_lsp.tools.spec import Command
from jp_lsp.toolsets.template import RenderedCommand, TemplateFailed, render_command

CONTEXT: dict[str, JsonValue] = {
    "tool": {
        "name": "search",
        "arguments": {
            "text": "a b'c\"$(id)\n",
            "yes": True,
            "no": False,
            "none": None,
            "one": 1,
            "float": 1.0,
            "big": 2**70,
            "list": ["ä", 1.5, None, True],
            "object": {"z": 1, "a": [], "items": 2},
            "items": "mine",
            "half": "x\ud800y\ud83d\ude00",
        },
        "answers": {"sure": False},
        "options": {},
    },
    "context": {"action": "run", "access": None},
}


def rendered(*words: str, shell: bool = False) -> RenderedCommand:
    return render_command(Command(words[0], words[1:], shell), CONTEXT)


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("plain", "plain"),
        ("--name={{tool.name}}!", "--name=search!"),
        ("{{tool.arguments.text}}", "a b'c\"$(id)\n"),
        ("{{tool.arguments.yes}}/{{tool.answers.sure}}", "true/false"),
        ("{{tool.arguments.none}}", "null"),
        ("{{context.access}}", "null"),
        ("{{tool.arguments.missing}}", "null"),
        ("{{nothing}}", "null"),
        ("{{tool.arguments.missing|default('')}}", ""),
        ("{{tool.arguments.one}} {{tool.arguments.float}}", "1 1.0"),
        ("{{tool.arguments.big}}", "1180591620717411303424"),
        ("{{tool.arguments.list}}", '["ä",1.5,null,true]'),
        ("{{tool.arguments.object}}", '{"z":1,"a":[],"items":2}'),
        ("{{tool.arguments.items}}", "mine"),
        ("{{tool.answers}}", '{"sure":false}'),
        ("{{tool.options}}", "{}"),
        ("{{tool.arguments.object|tojson}}", '{"z": 1, "a": [], "items": 2}'),
        ("{{tool.arguments.half}}", "x\ufffdy😀"),
        ("{% if tool.arguments.yes %}on{% else %}off{% endif %}", "on"),
        ("{% for one in tool.arguments.list %}{{one}};{% endfor %}", "ä;1.5;null;true;"),
        ("{# nothing #}", ""),
        ("{ {not} }", "{ {not} }"),
    ],
)
def test_one_word(word: str, value: str) -> None:
    assert rendered("program", word) == RenderedCommand(("program", value))
    assert rendered(word) == RenderedCommand((value,))


@pytest.mark.requirement("R272")
@given(value=st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",))))
def test_a_value_stays_one_argument_whatever_it_holds(value: str) -> None:
    command = Command("grep", ("--", "{{tool.arguments.pattern}}", "notes"))
    arguments = render_command(command, {"tool": {"arguments": {"pattern": value}}}).arguments
    assert arguments == ("grep", "--", value, "notes")


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("{{nope.x}}", "undefined value: `nope` is undefined, in `{{nope.x}}`"),
        ("{{tool", "syntax error: unexpected end of input, expected end of variable block, in `{{tool`"),
        ("{{tool.name|nope}}", "unknown filter: filter nope is unknown, in `{{tool.name|nope}}`"),
        ("{{tool.nope()}}", "'dict' object has no attribute 'nope', in `{{tool.nope()}}`"),
        (
            "{% include 'x' %}",
            "template not found: tried to include non-existing template 'x', in `{% include 'x' %}`",
        ),
    ],
)
def test_a_template_that_is_wrong_says_so(word: str, problem: str) -> None:
    with pytest.raises(TemplateFailed) as caught:
        rendered("program", word)
    assert str(caught.value) == problem


def test_a_template_cannot_run_for_ever() -> None:
    loop = "{% for a in range(100000) %}"
    with pytest.raises(TemplateFailed, match="ran out of fuel"):
        rendered("program", loop * 2 + "x" + "{% endfor %}" * 2)


@pytest.mark.parametrize("shell", [False, True])
@pytest.mark.parametrize("where", ["program", "argument"])
@pytest.mark.parametrize("value", ["a\0b", "\x000\0", "\x0099\0"])
def test_a_nul_character_cannot_be_passed(value: str, where: str, shell: bool) -> None:
    command = Command("{{x}}") if where == "program" else Command("program", ("{{x}}",))
    command = Command(command.program, command.arguments, shell)
    with pytest.raises(TemplateFailed, match="NUL character"):
        render_command(command, {"x": value})


def test_arguments_beyond_all_depth_are_refused() -> None:
    deep: JsonValue = []
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(TemplateFailed, match="nested too deep"):
        render_command(Command("program", ("{{x}}",)), {"x": deep})


def test_a_template_changes_nothing() -> None:
    arguments: dict[str, JsonValue] = {"a": 1}
    render_command(Command("program", ("{{x.pop('a')}}",)), {"x": arguments})
    assert arguments == {"a": 1}


# ----------------------------------------------------------------------------------------------- shell


def shell_output(program: str, *arguments: str, **values: JsonValue) -> str:
    """What a shell really makes of a command."""
    command = render_command(Command(program, arguments, shell=True), values)
    run = subprocess.run(
        command.arguments, env={"PATH": "/usr/bin:/bin", **command.variables}, capture_output=True, check=True
    )
    return run.stdout.decode()


@pytest.mark.requirement("R272")
def test_shell_text_is_verbatim_and_arguments_are_quoted() -> None:
    command = rendered("sort notes | uniq -c >&2;", "{{tool.arguments.text}}", "plain", "", shell=True)
    text = "sort notes | uniq -c >&2; 'a b'\"'\"'c\"$(id)\n' plain ''"
    assert command == RenderedCommand(("sh", "-c", text))


EVIL = "x; echo evil; $(echo evil) `echo evil` ' \" & |"


@pytest.mark.requirement("R272")
@pytest.mark.parametrize(
    ("program", "output"),
    [
        ('printf %s "{{x}}"', EVIL),
        ("printf %s '{{x}}'", EVIL),
        ("printf %s {{x}}", EVIL.replace(" ", "")),
        ("printf %s \"$(printf %s '{{x}}')\"", EVIL),
        ("printf '%s|' 'it'\\''s {{x}}' # don't {{x}}\nprintf %s '{{x}}'", f"it's {EVIL}|{EVIL}"),
        ('{% set y %}<{{x}}>{% endset %}printf %s "{{y}}"', f"<{EVIL}>"),
        ("{% if x %}printf %s {{n}}{% endif %}", "1.0"),
        ('printf %s "\\"{{x}}\\""', f'"{EVIL}"'),
    ],
)
def test_a_value_in_shell_text_is_never_code(program: str, output: str) -> None:
    assert shell_output(program, x=EVIL, n=1.0) == output


def test_a_harmless_value_splits_into_words_as_it_would_in_a_template() -> None:
    assert shell_output("printf '%s|' {{flags}} end", flags="-a -b") == "-a|-b|end|"


@pytest.mark.requirement("R272")
@given(value=st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=30))
def test_whatever_the_value_the_shell_passes_it_on(value: str) -> None:
    assert shell_output("printf %s \"{{x}}\" '|' '{{x}}' '|'", "{{x}}", x=value) == f"{value}|{value}|{value}"


# -------------------------------------------------------------------------------------------- diagnostics


def test_the_template_engine_is_loaded_when_it_is_needed() -> None:
    text = """
import sys
from jp_lsp.tools.spec import Command
from jp_lsp.toolsets.local import LocalExecutor
from jp_lsp.toolsets.template import render_command
render_command(Command("ls", ("-l",)), {})
assert "minijinja" not in sys.modules
render_command(Command("ls", ("{{x}}",)), {})
assert "minijinja" in sys.modules
"""
    subprocess.run([sys.executable, "-c", text], check=True)
