"""How fast a response is rendered (R215). Run it: `python -m tests.bench.bench_render`.

A response of 1 MB that arrives in 10,000 parts must take less than 2 seconds. The ratio to plain string
concatenation shows what rendering costs beyond it.
"""

import sys
import time
from collections.abc import Callable, Sequence

from jp_lsp.render.chat import TurnView
from jp_lsp.render.chunk import Chunk
from jp_lsp.render.options import DisplayOptions, Labels
from jp_lsp.render.transcript import transcript

SIZE = 1_000_000
PARTS = 10_000
LIMIT_SECONDS = 2.0

_ANSWER = """## Step {n}

The function `load_{n}` reads the *whole* file and keeps it in memory, which is fine for small inputs but not for
the ones in [the report](https://example.org/report_{n}.html); a reader that works line by line would do, and it
would **also** make the error messages better, because the number of the line is known.

1. Open the file.
1. Read a line, and parse it:
   ```python
   for number, line in enumerate(lines, 1):
       yield number, parse(line)
   ```
1. Go on until the end.

| case | before | after |
| --- | --- | --- |
| small | {n} ms | 2 ms |

"""


def answer(size: int) -> str:
    """Make an answer of about `size` characters that has every kind of block."""
    texts: list[str] = []
    length = 0
    while length < size:
        texts.append(_ANSWER.format(n=len(texts)))
        length += len(texts[-1])
    return "".join(texts)[:size]


def parts_of(text: str, count: int) -> list[str]:
    """Cut a text into `count` parts of equal size."""
    step = -(-len(text) // count)
    return [text[start : start + step] for start in range(0, len(text), step)]


def render(parts: Sequence[str], options: DisplayOptions) -> list[Chunk]:
    """Render a turn with this answer."""
    view = TurnView(options, Labels())
    chunks = view.turn_begin(1, "go")
    for part in parts:
        chunks += view.part("message", part)
    return chunks + view.turn_end("completed", is_persisted=True)


def seconds(work: Callable[[], object]) -> float:
    """Measure the processor time of some work."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> int:
    """Measure and report; the result is 1 when it was too slow."""
    whole = answer(SIZE)
    cases = {
        "everything": parts_of(whole, PARTS),
        "one paragraph": parts_of("In short: " + whole.replace("\n", " ").replace("```", "`"), PARTS),
        "one fence": parts_of("```\n" + whole.replace("```", "'''"), PARTS),
    }
    worst = 0.0
    for name, parts in cases.items():
        plain = seconds(lambda parts=parts: "".join(parts)) or 1e-6
        for granularity in ("block", "raw"):
            chunks: list[Chunk] = []
            options = DisplayOptions(granularity=granularity)
            taken = seconds(
                lambda parts=parts, options=options, chunks=chunks: chunks.extend(render(parts, options))
            )
            worst = max(worst, taken)
            sys.stdout.write(
                f"{name:14} {granularity:5} {taken:6.3f} s  {len(chunks):6} chunks"
                f"  {len(transcript(chunks)):8} characters  {taken / plain:8.0f} x concatenation\n"
            )
    sys.stdout.write(
        f"worst {worst:.3f} s, allowed {LIMIT_SECONDS} s for {SIZE} characters in {PARTS} parts\n"
    )
    return int(worst >= LIMIT_SECONDS)


if __name__ == "__main__":
    raise SystemExit(main())
