"""`[[contributes.commands]]`: what people may run, by hand or from a form."""

from __future__ import annotations

from talekeeper.manifest.points.point import Point, kept_in
from talekeeper.manifest.points.shared import names_once, needs_code, schemas_hold

POINT = Point(
    name="commands",
    about="What people may run, from the command line or a form.",
    noun="command",
    shape=kept_in("talekeeper.manifest.model.commands"),
    rules=(names_once("id"), needs_code, schemas_hold("parameters")),
    named_by="id",
    code=True,
    schema_key="parameters",
)
