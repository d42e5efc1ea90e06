"""The shape of `[[contributes.providers]]`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from talekeeper.manifest.model.entry import Entry
from talekeeper.manifest.model.texts import LocalName


class Provider(Entry):
    """A service of the semantic side of search that the plugin's code provides."""

    kind: Annotated[Literal["embedding", "vector-store"], Field(description="What it provides.")]
    name: Annotated[LocalName, Field(description="What settings call it.")]


SHAPE = list[Provider]
