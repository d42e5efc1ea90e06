"""The shape of `[contributes.data.<namespace>]` and its `search` table."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from talekeeper.manifest.model.entry import WHOLE, Entry
from talekeeper.manifest.model.texts import FilePath, NamespaceName

PropertyName = Annotated[str, Field(min_length=1, max_length=120)]


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


SHAPE = dict[NamespaceName, Namespace]
