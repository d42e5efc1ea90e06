"""`[[contributes.providers]]`: embedding models and vector stores."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from talekeeper.manifest.names import LocalName
from talekeeper.manifest.points.point import Entry, Point
from talekeeper.manifest.points.shared import names_once, needs_code


class Provider(Entry):
    """A service of the semantic side of search that the plugin's code provides."""

    kind: Annotated[Literal["embedding", "vector-store"], Field(description="What it provides.")]
    name: Annotated[LocalName, Field(description="What settings call it.")]


POINT = Point(
    name="providers",
    about="Embedding models and vector stores.",
    noun="provider",
    shape=list[Provider],
    rules=(names_once("name"), needs_code),
    named_by="name",
    code=True,
)
