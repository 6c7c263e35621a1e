"""Arguments checked against the schema that a server gave (query pipeline 3.2, step 5).

Regular expressions are not checked: a schema's are those of JavaScript, so Python would refuse what is right.
The server checks them anyhow. A schema that cannot be handled checks nothing.
"""

from jp_lsp.conversation.json_value import JsonObject
from jp_lsp.tools import json_schema


def find_problems(schema: JsonObject, arguments: JsonObject) -> list[str]:
    """Say what is wrong with arguments, a few sentences at most; none when nothing is, or nothing can be said."""
    return json_schema.find_problems(schema, arguments, "arguments", checks_patterns=False)
