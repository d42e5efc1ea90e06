"""The shape of `[[contributes.prompt]]`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from talekeeper.manifest.model.entry import WHOLE, Entry
from talekeeper.manifest.model.texts import LocalName


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


SHAPE = list[Segment]
