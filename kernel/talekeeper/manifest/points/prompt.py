"""`[[contributes.prompt]]`: segments of the narrator's prompt."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from talekeeper.manifest.names import LocalName
from talekeeper.manifest.points.point import WHOLE, Entry, Point
from talekeeper.manifest.points.shared import names_once, needs_code


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


POINT = Point(
    name="prompt",
    about="Segments of the narrator's prompt.",
    noun="prompt segment",
    shape=list[Segment],
    rules=(names_once("id"), needs_code),
    named_by="id",
    code=True,
)
