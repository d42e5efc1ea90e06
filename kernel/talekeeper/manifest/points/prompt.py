"""`[[contributes.prompt]]`: segments of the narrator's prompt."""

from __future__ import annotations

from talekeeper.manifest.points.point import Point, kept_in
from talekeeper.manifest.points.shared import names_once, needs_code

POINT = Point(
    name="prompt",
    about="Segments of the narrator's prompt.",
    noun="prompt segment",
    shape=kept_in("talekeeper.manifest.model.prompt"),
    rules=(names_once("id"), needs_code),
    named_by="id",
    code=True,
)
