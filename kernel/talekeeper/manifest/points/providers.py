"""`[[contributes.providers]]`: embedding models and vector stores."""

from __future__ import annotations

from talekeeper.manifest.points.point import Point, kept_in
from talekeeper.manifest.points.shared import names_once, needs_code

POINT = Point(
    name="providers",
    about="Embedding models and vector stores.",
    noun="provider",
    shape=kept_in("talekeeper.manifest.model.providers"),
    rules=(names_once("name"), needs_code),
    named_by="name",
    code=True,
)
