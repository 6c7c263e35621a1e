"""A process that uses the local model and is killed in the middle: `doomed_parent.py PACKAGES MODEL`."""

import sys
from pathlib import Path

import anyio

from jp_lsp.providers.local.process import ChildOptions, LocalModel


async def main() -> None:
    model = LocalModel(ChildOptions(Path(sys.argv[1]), Path(sys.argv[2]), "small"))
    endpoint = await model.start()
    sys.stdout.write(f"{endpoint.base_url}\n")
    sys.stdout.flush()
    await anyio.sleep_forever()


anyio.run(main)
