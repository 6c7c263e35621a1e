"""Wire types about settings: their values, where those come from, and the files that can be applied by name."""

from typing import Any, Literal

from jp_lsp.protocol.base import Array, WireModel
from jp_lsp.protocol.conversation import ConversationId


class ConfigPlace(WireModel):
    """Where a setting was made."""

    layer: str
    """Such as `workspace` or `environment`; `defaults` is the program itself."""
    name: str
    """For people: a file, a variable, an expression."""
    uri: str | None = None
    """Of a file."""
    line: int | None = None


class ConfigProblem(WireModel):
    """Something wrong, or doubtful, with the settings. An error keeps queries from being asked."""

    severity: Literal["error", "warning", "hint"]
    text: str
    key: str | None = None
    place: ConfigPlace | None = None


class ConfigGetParams(WireModel):
    """Which value, and for whom."""

    key: str | None = None
    """With dots, such as `assistant.model.id`; all of them when left out."""
    conversation: ConversationId | None = None
    """As a query in this conversation would have it; else as a new one would."""
    config: Array[str] = ()
    """`--cfg` expressions on top, as in `jp/query`."""


class ConfigGetResult(WireModel):
    """The value, in a form that a configuration file could have."""

    value: Any = None
    """Left out where nothing is set, and the program has no default."""
    problems: Array[ConfigProblem] = ()


class ConfigExplainParams(WireModel):
    """Which setting, and for whom."""

    key: str | None = None
    """With dots, such as `assistant.model.id`; each setting that somebody made, when left out."""
    conversation: ConversationId | None = None
    """As a query in this conversation would have it; else as a new one would."""
    config: Array[str] = ()
    """`--cfg` expressions on top, as in `jp/query`."""


class ConfigContribution(WireModel):
    """What one layer, or one file of it, says about a setting."""

    place: ConfigPlace
    state: Literal["wins", "adds", "shadowed", "not set", "not found", "skipped"]
    """`wins` decides alone, `adds` has a part in it, `shadowed` says something in vain."""
    value: Any = None
    reason: str | None = None


class ConfigItem(WireModel):
    """An item of a list, and where it is from."""

    value: Any = None
    place: ConfigPlace
    duplicate: bool = False
    """Whether the very same item is there once more before it."""


class ConfigExplanation(WireModel):
    """A setting and how it came to be."""

    key: str
    value: Any = None
    place: ConfigPlace
    """Whose word it is; of several that have a part in it, the highest."""
    contributions: Array[ConfigContribution] = ()
    """Lowest first."""
    items: Array[ConfigItem] = ()
    """Of a list."""
    notes: Array[str] = ()
    without_conversation: Any = None
    """What the other layers would give, where the conversation has the last word."""


class ConfigExplainResult(WireModel):
    """How settings came to be."""

    order: Array[str]
    """The layers, lowest first."""
    settings: Array[ConfigExplanation]
    problems: Array[ConfigProblem] = ()


class ConfigListParams(WireModel):
    """Nothing has to be said."""


class NamedConfiguration(WireModel):
    """A configuration file that can be applied by its name: a persona, a skill, or the like."""

    name: str
    expression: str
    """What to put into `config` of a query."""
    group: str | None = None
    """The folder that it is in, such as `personas`."""
    title: str | None = None
    """What it calls the assistant, or its first piece of text."""
    description: str | None = None
    uris: Array[str]
    """The files, in the order in which they are applied."""
    problem: str | None = None
    """Why it cannot be applied."""


class ConfigListResult(WireModel):
    """The files below the folders of `config_load_paths`, by group and name."""

    files: Array[NamedConfiguration]


class ConfigAssignment(WireModel):
    """A key and its value."""

    key: str
    """With dots, such as `assistant.model.id`; a name with dots in it is quoted."""
    value: Any = None
    """In the form that a configuration file has; takes the key away when left out."""


class ConfigSetParams(WireModel):
    """What to change, and in which file. All of it is right, or nothing is written."""

    target: str = "workspace"
    """The file of a layer (`user_global`, `workspace`, `cwd`, `user_workspace`), a path or URI, or a name as for
    `--cfg`. Only files that configuration is read from can be changed; one that is missing is made. The id of a
    conversation stands for what that keeps itself: the change is appended to it, with aliases looked up and files that
    `config` names applied, and holds from its next turn on. A key can be taken away only from a conversation whose files
    are of the newer form (`storage.newer_format`)."""
    set: Array[ConfigAssignment] = ()
    config: Array[str] = ()
    """`--cfg` expressions, such as `assistant.name=Ada` or `editor.envs+=VISUAL`; `+=` adds to what the file has."""
    unset: Array[str] = ()
    """Keys to take away."""
    conversation: ConversationId | None = None
    """Whose effective values the answer tells; else a new one's, or those of the conversation that is changed."""


class ConfigOutcome(WireModel):
    """A key after the change."""

    key: str
    value: Any = None
    """The effective one, with all layers."""
    place: ConfigPlace
    """Whose word it is."""
    state: Literal["wins", "adds", "shadowed", "not set", "unread"]
    """What has become of the file's word; `shadowed` means that `place` has more weight."""
    own: Any = None
    """What the file says."""


class ConfigSetResult(WireModel):
    """What was changed, and what holds now."""

    name: str
    """The file, for people."""
    uri: str
    """Of the file, or the `jp://` address of the conversation."""
    written: Literal["file", "document", "nothing"]
    """`document` is the editor's, which the user has to save; `nothing` means that the file said so already."""
    settings: Array[ConfigOutcome] = ()
    expression: str | None = None
    """What a query must have in `config` for the file to count."""
    unread: str | None = None
    """Why nothing reads the file."""
    questions: Array[str] = ()
    """What the user will be asked to trust because of it, at the next query."""
    problems: Array[ConfigProblem] = ()
    """What is wrong or doubtful in the file."""
