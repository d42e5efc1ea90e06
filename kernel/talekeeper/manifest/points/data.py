"""`[contributes.data.<namespace>]`: records the plugin keeps, and which of their properties feed memory-search."""

from __future__ import annotations

from talekeeper.manifest.points.data_rules import RULES
from talekeeper.manifest.points.point import Point, kept_in

POINT = Point(
    name="data",
    about="Records the plugin keeps, and which of them memory-search finds.",
    noun="namespace",
    shape=kept_in("talekeeper.manifest.model.data"),
    rules=RULES,
    schema_key="schema",
)
