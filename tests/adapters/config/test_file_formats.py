"""The five formats, how a file is found, and what hostile bytes can do (config-and-tools 1.1)."""

import subprocess
import sys
from pathlib import Path

import pytest

from jp_lsp.config.files import FileCache, find_by_stem, find_file
from jp_lsp.config.parse import MAX_FILE_SIZE, ParseError, parse

SAME = {"assistant": {"name": "Pixel", "request": {"max_retries": 2}}}

TEXTS = {
    "toml": '[assistant]\nname = "Pixel"\nrequest.max_retries = 2\n',
    "json": '// who\n{"assistant": {/* in\nside */ "name": "Pixel", "request": {"max_retries": 2}}}',
    "json5": "{assistant: {name: 'Pixel', request: {max_retries: 0x2,},},}",
    "yaml": "assistant:\n  name: Pixel\n  request: {max_retries: 2}\n",
    "yml": "base: &base {name: Pixel}\nassistant:\n  <<: *base\n  request: {max_retries: 2}\nbase2: ~\n",
}


@pytest.mark.parametrize("extension", TEXTS)
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["plain", "bom"])
def test_each_format_says_the_same(extension: str, mark: bytes):
    document = parse(mark + TEXTS[extension].encode(), extension)
    assert document["assistant"] == SAME["assistant"]


@pytest.mark.parametrize("extension", ["json", "json5", "yaml"])
def test_an_empty_file_is_an_empty_table(extension: str):
    assert parse(b" \n", extension) == {}


def test_a_comment_sign_within_a_text_stays():
    assert parse(b'{"a": "http://x/*y*/" /* z */}', "json") == {"a": "http://x/*y*/"}


@pytest.mark.requirement("G39")
def test_trap_39_yaml_words_of_version_1_1_are_text():
    document = parse(
        b"a: off\nb: on\nc: yes\nd: true\ne: 012\nf: 1:30\ng: 2026-01-01\nh: 0x1F\ni: 1e3\nj: ~", "yaml"
    )
    assert document == {
        "a": "off", "b": "on", "c": "yes", "d": True, "e": 12, "f": "1:30", "g": "2026-01-01", "h": 31, "i": 1000.0,
        "j": None,
    }  # fmt: skip


def test_a_key_over_a_merged_one_is_there_once_in_yaml():
    text = b"a: &a {x: 1, y: 1}\nb: &b\n  <<: *a\n  x: 2\nc:\n  <<: *b\n  y: 3\nd: *b\n"
    data = parse(text, "yaml")
    assert (data["b"], data["c"], data["d"]) == ({"x": 2, "y": 1}, {"x": 2, "y": 3}, {"x": 2, "y": 1})


def test_dates_become_text():
    assert parse(b"a = 2026-01-02\nb = 10:00:00", "toml") == {"a": "2026-01-02", "b": "10:00:00"}


BROKEN = {
    "toml": ("toml", b"a = 1\nb = = 2\n", "not valid TOML", 2),
    "json": ("json", b'{\n"a": 1,\n"b" 2}', "not valid JSON", 3),
    "json with a comma at its end": ("json", b'{"a": 1,}', "not valid JSON", 1),
    "json of numbers that are none": ("json", b'{"a": NaN}', "`NaN` is not a value", None),
    "json with an open comment": ("json", b"{/* ", "not valid JSON", 1),
    "json5": ("json5", b"{a: 1,\nb: }", "not valid JSON5: Expected `value`, found `}`", 2),
    "json5 that is not closed": ("json5", b"{secret: 'k', b: [", "not valid JSON5: Unclosed `array`", 1),
    "yaml": ("yaml", b"a: 1\nb: [1\n", "not valid YAML", 3),
    "yaml with a key twice": ("yaml", b"a:\n  b: 1\n  'b': 2\n", "the key `b` is there twice", 3),
    "yaml with a key twice in a flow": ("yaml", b"a: [{b: 1, b: 1}]", "the key `b` is there twice", 1),
    "yaml with code": ("yaml", b"a: !!python/object:os.system x", "not valid YAML", 1),
    "yaml with bytes": ("yaml", b"a: !!binary aGk=", "bytes", None),
    "no text": ("toml", b"a = 1\n\xff", "not UTF-8", 2),
    "no table": ("json", b"[1]", "must hold a table", None),
    "an infinite number": ("toml", b"a = inf", "is not a number that can be used", None),
    "too many digits": ("json", b'{"a": ' + b"1" * 5000 + b"}", "not valid JSON", None),
    "too deep": ("json", b'{"a":' * 200 + b"1" + b"}" * 200, "nested too deep", None),
    "much too deep": ("toml", b"a = " + b"[" * 100_000, "nested too deep", None),
    "yaml much too deep": ("yaml", b"[" * 50_000, "nested too deep", None),
    "yaml that holds itself": ("yaml", b"a: &a [*a]", "nested too deep", None),
    "yaml that doubles": (
        "yaml",
        b"a0: &a0 [1,1]\n"
        + b"".join(b"a%d: &a%d [*a%d,*a%d]\n" % (i, i, i - 1, i - 1) for i in range(1, 40)),
        "more than",
        None,
    ),
    "yaml that merges itself": ("yaml", b"a: &a {<<: *a, b: 1}", "nested too deep", None),
    "yaml that merges without end": (
        "yaml",
        b"a: &a {"
        + b",".join(b"k%d: 1" % i for i in range(200))
        + b"}\nb: {<<: ["
        + b",".join([b"*a"] * 60)
        + b"]}",
        "merge keys bring more than",
        None,
    ),
    "too large": ("toml", b"#" * (MAX_FILE_SIZE + 1), "larger than 8 MiB", None),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_file_that_cannot_be_read_says_why(case: str):
    extension, data, words, line = BROKEN[case]
    with pytest.raises(ParseError, match=words) as caught:
        parse(data, extension)
    if line is not None:
        assert caught.value.line == line


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_the_first_extension_in_the_fixed_order_wins(tmp_path: Path, count: int):
    order = ["toml", "json", "json5", "yaml", "yml"]
    for extension in order[-count:]:
        (tmp_path / f"config.{extension}").write_text("", encoding="utf-8")
    assert find_by_stem(tmp_path, "config") == tmp_path / f"config.{order[-count]}"


def test_a_folder_is_no_file(tmp_path: Path):
    (tmp_path / "config.toml").mkdir()
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    assert find_by_stem(tmp_path, "config") == tmp_path / "config.json"


@pytest.mark.requirement("G1")
def test_trap_01_a_dot_in_a_name_is_part_of_it_before_it_is_an_extension(tmp_path: Path):
    (tmp_path / "v1.toml").write_text("", encoding="utf-8")
    assert find_file(tmp_path / "v1.2") == tmp_path / "v1.toml"
    (tmp_path / "v1.2.toml").write_text("", encoding="utf-8")
    assert find_file(tmp_path / "v1.2") == tmp_path / "v1.2.toml"


def test_a_missing_file_is_replaced_by_one_of_another_format(tmp_path: Path):
    (tmp_path / "base.yaml").write_text("", encoding="utf-8")
    assert find_file(tmp_path / "base.toml") == tmp_path / "base.yaml"
    assert find_file(tmp_path / "other.toml") is None


def test_a_file_is_read_again_only_when_it_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("jp_lsp.config.looks.SETTLED_NANOSECONDS", 0)
    path = tmp_path / "config.toml"
    path.write_text('user.name = "Pixel"', encoding="utf-8")
    cache = FileCache()
    first = cache.load(path)
    assert cache.load(path) is first
    path.write_text('user.name = "Quill"', encoding="utf-8")
    second = cache.load(path)
    assert second.partial == {"user": {"name": "Quill"}}
    assert first.partial == {"user": {"name": "Pixel"}}


def test_a_file_that_is_gone_is_a_finding(tmp_path: Path):
    loaded = FileCache().load(tmp_path / "config.toml")
    assert [finding.text for finding in loaded.findings] == ["cannot be read: No such file or directory"]


def test_yaml_and_json5_are_loaded_only_for_such_files(tmp_path: Path):
    script = (
        "import sys; from pathlib import Path; from jp_lsp.config.files import FileCache; import jp_lsp.config.settings;"
        f"FileCache().load(Path({str(tmp_path / 'a.toml')!r})); FileCache().load(Path({str(tmp_path / 'a.json')!r}));"
        "print(sorted({'yaml', 'pyjson5'} & set(sys.modules)))"
    )
    for extension in ("toml", "json"):
        (tmp_path / f"a.{extension}").write_text(TEXTS[extension], encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
