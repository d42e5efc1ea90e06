"""The model's errors → findings: which errors belong together, and which misspelt key stands for which known one.

A missing and an unknown key that resemble each other become one finding. A value of several allowed types is complained
of once, by the most telling branch. The sentences are made in `saying`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from talekeeper.config import MISSPELT, KeyPath, nearest
from talekeeper.manifest import saying
from talekeeper.manifest.diagnostic import Finding
from talekeeper.manifest.keys import Keys
from talekeeper.manifest.model.whole import model
from talekeeper.manifest.points import Point
from talekeeper.text import is_array, is_table, json_fault


class Complaints(NamedTuple):
    """What the model has to say; which unknown keys are taken for which known ones; which are left out."""

    findings: list[Finding]
    respelled: dict[KeyPath, KeyPath]
    ignored: list[KeyPath]


def complaints(points: Mapping[str, Point], data: Mapping[str, Any], *, newer: bool) -> Complaints:
    """All findings about the shape of a manifest with these points.

    `newer`: it is of a later level than the host, so unknown keys only warn.
    """
    shape = model(points)
    errors = _errors(shape, data)
    if not errors:
        return Complaints([], {}, [])
    keys = Keys(shape)
    unknown = [it.path for it in errors if it.kind == "extra_forbidden"]
    missing = [it.path for it in errors if it.kind == "missing"]
    respelled = {} if newer else dict(_respelled(unknown, missing, data, keys))
    told = set(respelled.values())
    findings = [saying.unknown(it, respelled.get(it), keys, newer=newer) for it in unknown]
    findings += [saying.missing(it, keys) for it in missing if it not in told]
    # What JSON does not have is complained of when the file is read.
    values = [it for it in errors if it.kind not in {"extra_forbidden", "missing"}]
    others = [it for it in values if not json_fault(at(data, it.path))]
    findings += [saying.value(path, group, at(data, path)) for path, group in _grouped(others).items()]
    return Complaints(findings, respelled, unknown if newer else [])


def at(data: Any, path: KeyPath) -> Any:
    """The value at a path that is there."""
    for step in path:
        data = data[step]
    return data


def _errors(shape: type[BaseModel], data: Mapping[str, Any]) -> list[saying.Error]:
    try:
        shape.model_validate(data)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        return [saying.Error(it["type"], _path(it["loc"], it["type"], data), it.get("ctx", {})) for it in details]
    return []


def _path(location: tuple[int | str, ...], kind: str, data: Any) -> KeyPath:
    """The location without what is not in the file: `[key]` after a bad name, and the branches of a union."""
    if kind == "string_pattern_mismatch" and location[-1] == "[key]":
        return location[:-1]
    of_key = kind in {"extra_forbidden", "missing"}
    path: KeyPath = ()
    here = data
    for place, step in enumerate(location):
        if is_table(here) and (step in here or (of_key and place == len(location) - 1)):
            here = here.get(str(step))
        elif is_array(here) and isinstance(step, int):
            here = here[step]
        else:
            continue
        path = (*path, step)
    return path


def _respelled(
    unknown: list[KeyPath], missing: list[KeyPath], data: Mapping[str, Any], keys: Keys
) -> Iterator[tuple[KeyPath, KeyPath]]:
    """Unknown keys that stand for a known one which the table lacks; a missing required one comes first."""
    taken: set[KeyPath] = set()
    for written in unknown:
        table, name = written[:-1], str(written[-1])
        lacking = [it for it in missing if it[:-1] == table]
        free = [(*table, it) for it in keys.of(table) if it not in at(data, table)]
        for candidates in (lacking, free):
            found = nearest(name, [str(it[-1]) for it in candidates if it not in taken], MISSPELT)
            if found:
                taken.add((*table, found))
                yield written, (*table, found)
                break


def _grouped(errors: list[saying.Error]) -> dict[KeyPath, list[saying.Error]]:
    """The errors by path. Of a list that is also no text but has a bad item, the item is the fault."""
    groups: dict[KeyPath, list[saying.Error]] = {}
    for error in errors:
        groups.setdefault(error.path, []).append(error)
    above = {path[:length] for path in groups for length in range(len(path))}
    return {path: it for path, it in groups.items() if path not in above or not saying.only_types(it)}
