"""Rules that several contribution points share."""

from __future__ import annotations

from collections.abc import Iterator

from talekeeper.manifest import schema_file
from talekeeper.manifest.codes import contributions
from talekeeper.manifest.diagnostic import Finding
from talekeeper.manifest.points.point import Rule, Scene
from talekeeper.manifest.wording import quoted


def names_once(key: str) -> Rule:
    """Within the point, no two entries have the same value of `key`."""

    def rule(scene: Scene) -> Iterator[Finding]:
        seen: set[str] = set()
        for entry in scene.entries:
            name = entry.text(key)
            if name is not None and name in seen:
                yield Finding(contributions.SAME_NAME, entry.at(key), f"{key} {quoted(name)} is declared twice")
            elif name is not None:
                seen.add(name)

    return rule


def needs_code(scene: Scene) -> Iterator[Finding]:
    """The entries are functions, so `[plugin]` has to name the module that registers them."""
    if scene.entries and "module" not in scene.plugin:
        path = scene.entries[0].path[:2]
        message = f"{path[-1]} are functions, but [plugin] names no module that registers them"
        yield Finding(contributions.NO_CODE, path, message, on="key")


def schemas_hold(key: str) -> Rule:
    """The schema files that `key` names are there and sound."""

    def rule(scene: Scene) -> Iterator[Finding]:
        for entry in scene.entries:
            yield from schema_file.load(scene.package, entry, key).findings

    return rule
