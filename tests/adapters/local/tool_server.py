"""A real llama.cpp server whose model is shown tools: the small model's own template knows none.

Usage: `tool_server.py PACKAGES MODEL KEY`. It prints its address when it is ready, and ends with its standard input.
"""

import http.client
import importlib
import os
import sys
import time
from typing import Any

TEMPLATE = """\
{%- if tools %}<|im_start|>system
You have tools:
{%- for tool in tools %}
{{ tool | tojson }}
{%- endfor %}
For each question call a tool, like this:
<tool_call>
{"name": "the name", "arguments": {}}
</tool_call><|im_end|>
{% endif %}
{%- for message in messages %}
{%- if message.role != "tool" %}<|im_start|>{{ message.role }}
{{ message.content or "" }}
{%- for call in message.tool_calls or [] %}<tool_call>
{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}
</tool_call>
{%- endfor %}<|im_end|>
{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
"""The way of writing calls that llama.cpp knows from a family of much larger models."""


def main() -> None:
    """Serve until standard input ends."""
    packages, model, key = sys.argv[1:]
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.path.insert(0, packages)
    runtime: Any = importlib.import_module("xllamacpp")
    parameters = runtime.CommonParams()
    parameters.model.path = model
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [key]
    parameters.n_ctx = 4096
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    parameters.use_jinja = True
    parameters.chat_template = TEMPLATE
    parameters.warmup = False
    parameters.offline = True
    parameters.verbosity = 1
    server = runtime.Server(parameters)
    while not is_loaded(server.listening_address):
        time.sleep(0.05)
    answer.write(f"{server.listening_address}\n")
    answer.close()
    sys.stdin.read()
    os._exit(0)


def is_loaded(address: str) -> bool:
    """Whether the server has its model; until then it answers 503."""
    connection = http.client.HTTPConnection(address.removeprefix("http://"))
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == 200
    finally:
        connection.close()


if __name__ == "__main__":
    main()
