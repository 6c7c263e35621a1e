"""Runs in the child process: a llama.cpp server around one model file.

Started as a script, by path and with `python -I`, so it must get by with the standard library and with
what the first line of standard input names. That line is one JSON object (`process.ChildOptions`); the key
travels there because others may read a command line. The answer is one JSON line on standard output:
`{"address": "http://127.0.0.1:PORT"}` once the model is loaded, or `{"error": "..."}`.

The child lives as long as its standard input is open. That ends with the parent, however the parent ends.
"""

import http.client
import importlib
import json
import os
import select
import signal
import sys
import time
from typing import Any

if sys.platform != "win32":
    import fcntl
    import resource

_HEALTH_SECONDS = 60.0
_MAX_FILE_SIZE = 1 << 20
_BATCH_TOKENS = 256
_PING_SECONDS = 5


def main() -> None:
    """Serve until standard input ends."""
    answer = os.fdopen(_keep_stdout_clean(), "w", encoding="utf-8")
    line = _read_line()
    _end_with_stdin()
    _limit_files()
    try:
        reply = {"address": _serve(json.loads(line))}
    except Exception as error:
        reply = {"error": f"{type(error).__name__}: {error}"}
    answer.write(json.dumps(reply) + "\n")
    answer.close()
    if "address" in reply:
        while os.read(0, 1024):
            continue
    # The server's threads have nothing to save, and waiting for them could take an answer's time.
    os._exit(0 if "address" in reply else 1)


def _keep_stdout_clean() -> int:
    """Give a private copy of standard output; what native code prints goes to standard error."""
    answer = os.dup(1)
    os.dup2(2, 1)
    return answer


def _read_line() -> bytes:
    line = bytearray()
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            os._exit(0)
        line += byte
    return bytes(line)


def _end_with_stdin() -> None:
    """Have the kernel end this process when standard input ends.

    Loading a model holds Python's lock for seconds or minutes, so no thread of ours could notice. The
    signal's default action needs nobody: SIGIO ends a process. Where it does not exist (Windows), the
    end is noticed after loading.
    """
    if sys.platform == "win32":
        return
    signal.signal(signal.SIGIO, signal.SIG_DFL)
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
    if select.select([0], [], [], 0)[0]:
        os._exit(0)


def _limit_files() -> None:
    """Bound what standard error may write into the parent's file, and leave no core dump.

    A dump would hold the conversation. Elsewhere than on Linux graphics drivers may need files.
    """
    if sys.platform == "linux":
        for limit, size in ((resource.RLIMIT_FSIZE, _MAX_FILE_SIZE), (resource.RLIMIT_CORE, 0)):
            resource.setrlimit(limit, (size, resource.getrlimit(limit)[1]))


def _serve(options: dict[str, Any]) -> str:
    """Load the model and give the address of the server, which runs in threads of its own."""
    sys.path.insert(0, options["packages"])
    runtime: Any = importlib.import_module("xllamacpp")
    parameters = runtime.CommonParams()
    parameters.model.path = options["model"]
    parameters.model_alias = {options["alias"]}
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [options["key"]]
    parameters.n_ctx = options["context"]
    parameters.n_parallel = options["parallel"]
    # Requests share the context instead of having an equal part of it each.
    parameters.kv_unified = True
    for processor in (parameters.cpuparams, parameters.cpuparams_batch):
        processor.n_threads = options["threads"]
    # A closed connection is noticed between batches, so one batch must not take many seconds.
    parameters.n_batch = parameters.n_ubatch = _BATCH_TOKENS
    parameters.sse_ping_interval = _PING_SECONDS
    parameters.cache_ram_mib = options["cache_megabytes"]
    parameters.offline = True
    parameters.ui = False
    parameters.warmup = False
    parameters.verbosity = 1  # errors only
    # The running server is referred to by nothing else, and must not be collected.
    _SERVERS.append(runtime.Server(parameters))
    address: str = _SERVERS[0].listening_address
    _wait_until_healthy(address)
    return address


_SERVERS: list[Any] = []


def _wait_until_healthy(address: str) -> None:
    host, _colon, port = address.removeprefix("http://").rpartition(":")
    deadline = time.monotonic() + _HEALTH_SECONDS
    while True:
        connection = http.client.HTTPConnection(host, int(port), timeout=_HEALTH_SECONDS)
        try:
            connection.request("GET", "/health")
            status = connection.getresponse().status
        finally:
            connection.close()
        if status == 200:
            return
        if time.monotonic() > deadline:
            raise TimeoutError(f"the server still answers {status} after {_HEALTH_SECONDS:.0f} seconds")
        time.sleep(0.05)


if __name__ == "__main__":
    main()
