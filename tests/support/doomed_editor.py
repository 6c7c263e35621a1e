"""An editor as a process of its own that starts a server, asks something, and is killed or goes deaf in the middle.

Run as `doomed_editor.py FOLDER COMMAND...`. It owns the pipes to the server, so when it dies they are closed.
When the words `First.` have arrived it prints the server's process id and the conversation. Then it waits for
one line: `deaf` closes the pipe that it reads from.
"""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any


def main(folder: Path, command: list[str]) -> None:
    """Start the server, ask, report, and wait."""
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    to_server, from_server = server.stdin, server.stdout
    assert to_server is not None
    assert from_server is not None

    def send(message: dict[str, Any]) -> None:
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        to_server.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        to_server.flush()

    def receive() -> Any:
        size = int(from_server.readline().partition(b": ")[2])
        from_server.readline()
        return json.loads(from_server.read(size))

    place = {"uri": folder.as_uri(), "name": "workspace"}
    send(
        {
            "id": 1,
            "method": "initialize",
            "params": {"processId": None, "workspaceFolders": [place], "capabilities": {}},
        }
    )
    while receive().get("id") != 1:
        pass
    send({"method": "initialized", "params": {}})
    asked = {"text": "hi", "conversation": "new", "partialResultToken": "t"}
    send({"id": 2, "method": "jp/query", "params": asked})
    while True:
        value = receive().get("params", {}).get("value", {})
        if "First." in value.get("md", ""):
            break
    sys.stdout.write(json.dumps({"server": server.pid, "conversation": value["conversation"]}) + "\n")
    sys.stdout.flush()
    if sys.stdin.readline() == "deaf\n":
        from_server.close()
    threading.Event().wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
