"""The plugins that distributions announce, and the packages they name, found without running any of them.

`entry_points.txt` is read line by line: the standard library raises on a line without `=`, for the whole environment.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, EntryPoint, distributions, entry_points
from pathlib import Path
from typing import NamedTuple

from talekeeper.manifest.package import FILE_NAME, GROUP
from talekeeper.text import quoted

_FILE = "entry_points.txt"


class Announced(NamedTuple):
    """The entry points of our group, and what is wrong with the file, each fault beginning with its line."""

    entries: tuple[EntryPoint, ...]
    faults: tuple[str, ...] = ()


def installed() -> tuple[EntryPoint, ...]:
    """The plugins that the environment announces; those of a malformed file as far as it can be read."""
    try:
        return tuple(entry_points(group=GROUP))
    except (TypeError, ValueError, AttributeError):
        return tuple(entry for source in _by_name(distributions()) for entry in _of_one(source))


def announced(source: Distribution) -> Announced:
    """What one distribution announces."""
    try:
        text = source.read_text(_FILE) or ""
    except UnicodeDecodeError:
        return Announced((), (f"{_FILE} is not UTF-8",))
    return parse(text)


def parse(text: str) -> Announced:
    """Reads the text of an `entry_points.txt`."""
    entries: dict[str, EntryPoint] = {}
    faults: list[str] = []
    section = None
    seen: set[tuple[str, str]] = set()
    for number, line in enumerate(text.splitlines(), start=1):
        content = line.strip()
        if not content or content.startswith(("#", ";")):
            continue
        if content.startswith("["):
            section = content[1:-1].strip() if content.endswith("]") else None
            if section is None:
                faults.append(f"{_FILE}:{number}: {quoted(content)} has no closing bracket")
            continue
        name, equals, value = (part.strip() for part in content.partition("="))
        fault = _fault(section, name, value if equals else "", again=(section or "", name) in seen)
        seen.add((section or "", name))
        if fault:
            faults.append(f"{_FILE}:{number}: {quoted(content)} {fault}")
        elif section == GROUP:
            entries[name] = EntryPoint(name, value, GROUP)
    return Announced(tuple(entries.values()), tuple(faults))


def _fault(section: str | None, name: str, value: str, *, again: bool) -> str:
    if section is None:
        return "stands under no [group]"
    if not name or not value:
        return "is not of the form name = value"
    return "has a name that the group has already" if again else ""


def _of_one(source: Distribution) -> tuple[EntryPoint, ...]:
    try:
        return tuple(entry for entry in source.entry_points if entry.group == GROUP)
    except (TypeError, ValueError, AttributeError):
        return announced(source).entries


def _by_name(sources: Iterable[Distribution]) -> Iterator[Distribution]:
    """The first of each name, which is the one that is imported."""
    seen: set[str] = set()
    for source in sources:
        # Metadata may lack a name, whatever the annotation says.
        name = re.sub(r"[-_.]+", "-", str(source.metadata["Name"])).lower()
        if name not in seen:
            seen.add(name)
            yield source


def is_package_name(name: str) -> bool:
    """Whether it is dotted words of Python: anything else may lead anywhere on the disk when it is taken for a path."""
    return all(part.isidentifier() for part in name.split("."))


def folder_of(package: str) -> Path | None:
    """The folder of an importable package, the one with a manifest where it has several.

    Only the top-level name is looked up: asking for more would run the package.
    """
    if not is_package_name(package):
        return None
    top, *inner = package.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError, AttributeError):
        # ValueError: a loaded module of that name has no spec, as __main__ has none.
        return None
    folders = [Path(it).joinpath(*inner) for it in (spec.submodule_search_locations or ())] if spec else []
    best = next((it for it in folders if (it / FILE_NAME).is_file()), None)
    return best or next((it for it in folders if it.is_dir()), None)
