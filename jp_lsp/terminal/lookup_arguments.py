"""What `jp-lsp conversations`, `models` and `config` take, and the request that it comes to."""

import argparse
from typing import TYPE_CHECKING

from jp_lsp.conversation.json_value import JsonObject, JsonValue

if TYPE_CHECKING:
    from jp_lsp.terminal.lookup import Lookup


def add_conversation_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `conversations`."""
    parser.add_argument("--archived", action="store_true", help="list the archived ones instead")
    parser.add_argument("--pinned", action="store_true", help="only those that are pinned")
    parser.add_argument("--title", metavar="TEXT", help="only those with this in their title, in any case")
    parser.add_argument(
        "--label",
        dest="labels",
        action="append",
        default=[],
        metavar="KEY[=VALUE]",
        help="only those with this label",
    )
    parser.add_argument("--limit", type=int, metavar="N", help="at most so many, the latest")
    _add_json(parser)


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `models`."""
    parser.add_argument("vendor", nargs="?", metavar="VENDOR", help="only the models of this vendor")
    _add_config(parser)
    _add_json(parser)


def add_config_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe `config`."""
    parser.epilog = (
        "`explain` says which file, variable or conversation has which say in a setting; `get` gives its value; "
        "`list` names the files that --cfg can apply by name. Without KEY it is about all settings. `set` changes "
        "a file and leaves everything else in it as it is: `jp-lsp config set assistant.name=Ada --in user_global`."
    )
    parser.add_argument("what", choices=("explain", "get", "list", "set"), help="what to say or do")
    parser.add_argument(
        "key", nargs="?", metavar="KEY", help="a setting, such as assistant.model.id; for `set` an expression"
    )
    parser.add_argument(
        "--in",
        dest="target",
        default="workspace",
        metavar="FILE",
        help="for `set`: user_global, workspace, cwd, user_workspace, a path, a name as for --cfg, or the id of a conversation",
    )
    parser.add_argument(
        "--unset",
        action="append",
        default=[],
        metavar="KEY",
        help="for `set`: take this setting out of the file",
    )
    parser.add_argument(
        "--conversation", metavar="ID", help="as a query in this conversation would have it; else a new one"
    )
    _add_config(parser)
    _add_json(parser)


def lookup_of(arguments: argparse.Namespace) -> "Lookup":
    """Give what the command asks for."""
    from jp_lsp.terminal.lookup import config_lookup, conversation_lookup, model_lookup

    match arguments.command:
        case "conversations":
            pinned = True if arguments.pinned else None
            return conversation_lookup(
                {
                    "archived": arguments.archived,
                    **_present(pinned=pinned, title=arguments.title, limit=arguments.limit),
                    "labels": arguments.labels,
                }
            )
        case "models":
            return model_lookup({**_present(vendor=arguments.vendor), "config": arguments.config})
        case "config" if arguments.what == "set":
            said = [*([] if arguments.key is None else [arguments.key]), *arguments.config]
            wanted = {"target": arguments.target, "config": said, "unset": arguments.unset}
            return config_lookup("set", {**wanted, **_present(conversation=arguments.conversation)})
        case _:
            asked = _present(key=arguments.key, conversation=arguments.conversation)
            return config_lookup(arguments.what, {**asked, "config": arguments.config})


def _add_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cfg",
        dest="config",
        action="append",
        default=[],
        metavar="EXPR",
        help="with this setting on top, such as assistant.name=Ada, or this file of settings",
    )


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the server's answer as it is")


def _present(**fields: JsonValue) -> JsonObject:
    return {name: field for name, field in fields.items() if field is not None}
