"""What can be asked about code, and what the model is shown with it."""

from jp_lsp.language.asking import MAX_CODE, Complaint, Excerpt, asks_about

EXCERPT = Excerpt("src/main.py", "python", 3, 4, "a = 1\nb = `2`")


def test_about_code() -> None:
    asks = list(asks_about(EXCERPT, []))
    assert [(ask.title, ask.purpose, ask.text) for ask in asks] == [
        ("JP: Ask about this code …", "ask", None),
        ("JP: Explain this code", "explain", "Explain what this code does."),
        ("JP: Fix this code", "fix", "Look for mistakes in this code of `src/main.py`, and fix them."),
    ]
    assert {ask.quote for ask in asks} == {"`src/main.py`, lines 3 to 4:\n\n```python\na = 1\nb = `2`\n```"}


def test_about_a_diagnostic() -> None:
    asks = list(asks_about(EXCERPT, [Complaint(4, "invalid\n  syntax", "pyright")]))
    assert [(ask.title, ask.purpose) for ask in asks] == [
        ("JP: Fix this problem", "fix"),
        ("JP: Explain this problem", "explain"),
        ("JP: Ask about this problem …", "ask"),
    ]
    assert asks[0].text == "Fix this problem in `src/main.py`."
    assert asks[0].quote.endswith("```\n\nThe editor says:\n\n- line 4: invalid syntax (pyright)")


def test_what_is_too_much_is_cut_and_no_fence_is_broken() -> None:
    excerpt = Excerpt("a", "x` injected", 1, 1, "```\n" + "x" * MAX_CODE)
    quote = next(asks_about(excerpt, [Complaint(1, "y" * 9000)] * 50)).quote
    assert quote.count("- line 1: ") == 20
    assert len(quote) < MAX_CODE + 20 * 2100
    assert "\n\n````\n```\n" in quote
    assert "injected" not in quote
