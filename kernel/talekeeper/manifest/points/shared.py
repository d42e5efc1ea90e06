"""Rules that several contribution points share."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from talekeeper.manifest import schema_file
from talekeeper.manifest.codes import contributions
from talekeeper.manifest.diagnostic import Finding
from talekeeper.manifest.points.point import Rule, Scene
from talekeeper.text import quoted


def names_once(key: str, compared: Callable[[str], str] = str) -> Rule:
    """Within the point, no two entries have the same value of `key`; `compared` makes equal what counts as the same."""

    def rule(scene: Scene) -> Iterator[Finding]:
        seen: dict[str, str] = {}
        for entry in scene.entries:
            name = entry.text(key)
            if name is None:
                continue
            earlier = seen.get(compared(name))
            if earlier is None:
                seen[compared(name)] = name
            else:
                said = "declared twice" if earlier == name else f"the same as {quoted(earlier)} to some models"
                yield Finding(contributions.SAME_NAME, entry.at(key), f"{key} {quoted(name)} is {said}")

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
