"""The tables of the model: what each contribution point accepts, made of names and texts with patterns and lengths."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from talekeeper.manifest import codes, names


def _whole(value: Any) -> Any:
    # JSON Schema takes 1.0 for an integer, so the model has to as well.
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)
"""Last in an annotation of `int`: a whole number, however it is written."""


class Entry(BaseModel):
    """A table of the manifest: keys are spelled with hyphens, unknown ones and conversions are refused."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        defer_build=True,
        frozen=True,
        allow_inf_nan=False,
        alias_generator=lambda name: name.replace("_", "-"),
    )


PluginId = Annotated[str, Field(pattern=names.PLUGIN_ID)]
NamespaceName = Annotated[str, Field(pattern=names.NAMESPACE)]
SettingKey = Annotated[str, Field(pattern=names.SETTING)]
ToolName = Annotated[str, Field(pattern=names.TOOL)]
LocalName = Annotated[str, Field(pattern=names.LOCAL)]
ModuleName = Annotated[str, Field(pattern=names.MODULE, max_length=codes.MODULE_LENGTH)]
ReadTarget = Annotated[str, Field(pattern=names.READ)]
HostName = Annotated[str, Field(pattern=names.HOST, max_length=259)]
TimeOfDay = Annotated[str, Field(pattern=names.TIME)]
Line = Annotated[str, Field(min_length=1, max_length=codes.LINE_LENGTH, pattern=names.LINE)]
Prose = Annotated[str, Field(min_length=1, max_length=codes.PROSE_LENGTH, pattern=names.PROSE)]
FilePath = Annotated[str, Field(min_length=1, max_length=codes.FILE_LENGTH, pattern=names.LINE)]

PropertyName = Annotated[str, Field(min_length=1, max_length=codes.LINE_LENGTH)]


class Search(Entry):
    """Makes a namespace searchable: each key names a top-level property of the record."""

    text: Annotated[
        PropertyName | Annotated[list[PropertyName], Field(min_length=1, max_length=20)],
        Field(description="It names the record property that memory-search indexes, or a list of them."),
    ]
    title: Annotated[PropertyName | None, Field(description="Indexed with the text and shown above it.")] = None
    speaker: Annotated[PropertyName | None, Field(description="Who said it.")] = None
    time: Annotated[PropertyName | None, Field(description="When it was said or happened.")] = None
    tags: Annotated[PropertyName | None, Field(description="An array of strings, indexed with the text.")] = None
    when: Annotated[
        PropertyName | None, Field(description="A boolean; a record in which it is false is not searched.")
    ] = None
    weight: Annotated[float, Field(gt=0, le=10, description="Multiplies the record's score.")] = 1.0
    visibility: Annotated[
        Literal["narrator", "owner"], Field(description="Who finds it: the narrator, or the verified owner alone.")
    ] = "narrator"
    tier: Annotated[
        Literal["archival", "recall"],
        Field(description="recall: the text retells the session's own history, as a summary does."),
    ] = "archival"


class Namespace(Entry):
    """Records of one kind that the plugin keeps."""

    version: Annotated[
        int, Field(ge=1, le=1_000_000, description="A higher one migrates the stored records."), WHOLE
    ] = 1
    record_schema: Annotated[
        FilePath, Field(alias="schema", description="A file in the package: JSON Schema (2020-12) of one record.")
    ]
    scope: Annotated[
        Literal["session", "workspace", "preset"],
        Field(description="What the records belong to; preset means workspace and preset."),
    ] = "session"
    append_only: Annotated[bool, Field(description="Records are added, withdrawn and forgotten, never replaced.")] = (
        False
    )
    limit: Annotated[
        Annotated[int, Field(ge=1, le=10_000_000), WHOLE] | None,
        Field(description="The most live records in one scope."),
    ] = None
    on_limit: Annotated[
        Literal["refuse", "oldest"], Field(description="What happens at the limit: refuse, or withdraw the oldest.")
    ] = "refuse"
    seed: Annotated[
        FilePath | None,
        Field(description="JSON Lines files in the package, loaded at the first activation in a scope."),
    ] = None
    search: Annotated[Search | None, Field(description="The declaration that feeds memory-search.")] = None


class Tool(Entry):
    """A function a model may call."""

    name: Annotated[ToolName, Field(description="What the model calls.")]
    description: Annotated[Prose, Field(description="Tells the model what the tool does and when to use it.")]
    parameters: Annotated[
        FilePath | None, Field(description="A file in the package: JSON Schema of the arguments. Absent: no arguments.")
    ] = None
    effects: Annotated[
        Literal["none", "write", "external"],
        Field(description="none, write (records of its own), or external, which asks for approval in a tainted turn."),
    ] = "none"


class Segment(Entry):
    """A part of the narrator's prompt that the plugin's code fills, turn by turn."""

    id: Annotated[LocalName, Field(description="The name under which the code registers the segment.")]
    position: Annotated[
        Literal["system", "before-history", "after-history"], Field(description="Where in the prompt it stands.")
    ]
    order: Annotated[
        int, Field(ge=-1000, le=1000, description="Lower comes first among the segments of a position."), WHOLE
    ] = 100
    budget: Annotated[int, Field(ge=1, le=100_000, description="Characters at most."), WHOLE]


class Job(Entry):
    """Work the plugin's code does outside a turn: after one, at set times, or when asked."""

    id: Annotated[LocalName, Field(description="The name under which the code registers the job.")]
    on: Annotated[Literal["turn-committed", "schedule", "manual"], Field(description="What starts it.")]
    cron: Annotated[Line | None, Field(description="Five cron fields: minute, hour, day, month, weekday.")] = None
    time: Annotated[TimeOfDay | None, Field(description="HH:MM; every day, or on the weekday.")] = None
    weekday: Annotated[
        Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"] | None,
        Field(description="With time: once a week."),
    ] = None
    tz: Annotated[Line | None, Field(description="A name of the IANA time zone database. Absent: the workspace's.")] = (
        None
    )


_Text = Annotated[str, Field(max_length=codes.PROSE_LENGTH)]
_Value = bool | int | float | _Text


class Setting(Entry):
    """One setting of the plugin, resolved home < workspace < session."""

    key: Annotated[SettingKey, Field(description="What the code asks for.")]
    type: Annotated[
        Literal["boolean", "integer", "number", "string"], Field(description="What kind of value it takes.")
    ]
    default: Annotated[_Value, Field(description="The value where nobody has set one.")]
    label: Annotated[Line, Field(description="What the settings page calls it.")]
    description: Annotated[Prose | None, Field(description="What it changes, and why its default is what it is.")] = (
        None
    )
    min: Annotated[float | None, Field(description="The lowest number allowed.")] = None
    max: Annotated[float | None, Field(description="The highest number allowed.")] = None
    choices: Annotated[
        list[_Value] | None, Field(min_length=1, max_length=100, description="The only values allowed.")
    ] = None


class Command(Entry):
    """Something people may run: `talekeeper run <plugin>/<id>`."""

    id: Annotated[LocalName, Field(description="What people type after the plugin's id.")]
    parameters: Annotated[
        FilePath | None, Field(description="A file in the package: JSON Schema of the arguments. Absent: no arguments.")
    ] = None


class Importer(Entry):
    """A kind of file the plugin reads into its own namespaces."""

    id: Annotated[LocalName, Field(description="The name under which the code registers the importer.")]
    match: Annotated[
        list[FilePath], Field(min_length=1, max_length=50, description="File name patterns, such as *.json.")
    ]


class Provider(Entry):
    """A service of the semantic side of search that the plugin's code provides."""

    kind: Annotated[Literal["embedding", "vector-store"], Field(description="What it provides.")]
    name: Annotated[LocalName, Field(description="What settings call it.")]


SHAPES: Mapping[str, Any] = MappingProxyType(
    {
        "data": dict[NamespaceName, Namespace],
        "tools": list[Tool],
        "prompt": list[Segment],
        "jobs": list[Job],
        "settings": list[Setting],
        "commands": list[Command],
        "importers": list[Importer],
        "providers": list[Provider],
    }
)
"""The type of each contribution point."""
