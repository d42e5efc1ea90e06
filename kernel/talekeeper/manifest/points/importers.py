"""`[[contributes.importers]]`: files the plugin can read into its namespaces."""

from __future__ import annotations

from collections.abc import Iterator

from talekeeper.manifest.codes import contributions
from talekeeper.manifest.diagnostic import Finding
from talekeeper.manifest.points.point import Point, Scene, kept_in
from talekeeper.manifest.points.shared import names_once, needs_code
from talekeeper.text import quoted


def _patterns(scene: Scene) -> Iterator[Finding]:
    for entry in scene.entries:
        for path, pattern in entry.texts("match"):
            if "/" in pattern or "\\" in pattern or "**" in pattern:
                message = f"{quoted(pattern)} is compared with file names alone, so it can have no folders and no **"
                yield Finding(contributions.MATCH_PATTERN, path, message)


POINT = Point(
    name="importers",
    about="Files the plugin can read into its namespaces.",
    noun="importer",
    shape=kept_in("talekeeper.manifest.model.importers"),
    rules=(names_once("id"), needs_code, _patterns),
    named_by="id",
    code=True,
)
