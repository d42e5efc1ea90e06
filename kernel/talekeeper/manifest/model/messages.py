"""The model's errors → findings: which errors belong together, and which known key a misspelt one means.

A missing and an unknown key that resemble each other become one finding. A value of several allowed types gives one
finding, for the most telling branch. Each sentence says what was found, what was expected and what was probably meant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from types import MappingProxyType
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from talekeeper.config import MISSPELT, KeyPath, did_you_mean, nearest
from talekeeper.json_schema import resolve
from talekeeper.manifest import codes
from talekeeper.manifest.diagnostic import Finding
from talekeeper.manifest.model.manifest import model
from talekeeper.manifest.names import name_fault
from talekeeper.manifest.rules.point import Point
from talekeeper.manifest.shape import schema_of
from talekeeper.text import counted, is_array, is_table, json_fault, listed, quoted, visible

_Schema = Mapping[str, Any]

_TYPES = MappingProxyType(
    {
        "string_type": "text",
        "int_type": "a whole number",
        "int_from_float": "a whole number",
        "float_type": "a number",
        "bool_type": "true or false",
        "list_type": "a list",
        "dict_type": "a table",
        "model_type": "a table",
    }
)
_BOUNDS = MappingProxyType(
    {
        "greater_than_equal": ("ge", "at least"),
        "less_than_equal": ("le", "at most"),
        "greater_than": ("gt", "more than"),
        "less_than": ("lt", "less than"),
    }
)
_LENGTHS = MappingProxyType(
    {
        "string_too_short": ("min_length", "text of at least {}"),
        "string_too_long": ("max_length", "text of at most {}"),
        "too_short": ("min_length", "a list of at least {}"),
        "too_long": ("max_length", "a list of at most {}"),
    }
)


class ModelError(NamedTuple):
    """One error of the model: pydantic's name for it, the path in the manifest, what the sentence needs."""

    kind: str
    path: KeyPath
    context: Mapping[str, Any]


class ShapeFindings(NamedTuple):
    """What is wrong with a manifest's shape; unknown key → the known one it means; unknown keys to leave out."""

    findings: list[Finding]
    misspelt: dict[KeyPath, KeyPath]
    ignored: list[KeyPath]


def shape_findings(points: Mapping[str, Point], data: Mapping[str, Any], *, newer: bool) -> ShapeFindings:
    """All findings about the shape of a manifest with these points.

    `newer`: it is of a later level than the host, so unknown keys only warn.
    """
    errors = _errors(model(points), data)
    if not errors:
        return ShapeFindings([], {}, [])
    schema = schema_of(points)
    unknown = [it.path for it in errors if it.kind == "extra_forbidden"]
    missing = [it.path for it in errors if it.kind == "missing"]
    misspelt = {} if newer else dict(_misspelt(unknown, missing, data, schema))
    reported = set(misspelt.values())
    findings = [_unknown_key(it, misspelt.get(it), schema, newer=newer) for it in unknown]
    findings += [_missing_key(it, schema) for it in missing if it not in reported]
    # The reader of the file has reported what JSON does not have.
    values = [it for it in errors if it.kind not in {"extra_forbidden", "missing"}]
    others = [it for it in values if not json_fault(_at(data, it.path))]
    findings += [_bad_value(path, group, _at(data, path)) for path, group in _grouped(others).items()]
    return ShapeFindings(findings, misspelt, unknown if newer else [])


def amended(data: Mapping[str, Any], shape: ShapeFindings) -> dict[str, Any]:
    """A copy with misspelt keys as they were meant, and without the keys to leave out."""
    copy: dict[str, Any] = deepcopy(dict(data))
    for path in shape.ignored:
        _at(copy, path[:-1]).pop(path[-1])
    for written, meant in shape.misspelt.items():
        table = _at(copy, written[:-1])
        table[meant[-1]] = table.pop(written[-1])
    return copy


def _at(data: Any, path: KeyPath) -> Any:
    for step in path:
        data = data[step]
    return data


def _errors(shape: type[BaseModel], data: Mapping[str, Any]) -> list[ModelError]:
    try:
        shape.model_validate(data)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        return [ModelError(it["type"], _path(it["loc"], it["type"], data), it.get("ctx", {})) for it in details]
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


def _misspelt(
    unknown: list[KeyPath], missing: list[KeyPath], data: Mapping[str, Any], schema: _Schema
) -> Iterator[tuple[KeyPath, KeyPath]]:
    """Unknown keys with the known one that the table lacks and they mean; a missing required one comes first."""
    taken: set[KeyPath] = set()
    for written in unknown:
        table, name = written[:-1], str(written[-1])
        lacking = [it for it in missing if it[:-1] == table]
        free = [(*table, it) for it in known_keys(schema, table) if it not in _at(data, table)]
        for candidates in (lacking, free):
            found = nearest(name, [str(it[-1]) for it in candidates if it not in taken], MISSPELT)
            if found:
                taken.add((*table, found))
                yield written, (*table, found)
                break


def _grouped(errors: list[ModelError]) -> dict[KeyPath, list[ModelError]]:
    """The errors by path. Of a list that is also no text but has a bad item, the item is the fault."""
    groups: dict[KeyPath, list[ModelError]] = {}
    for error in errors:
        groups.setdefault(error.path, []).append(error)
    above = {path[:length] for path in groups for length in range(len(path))}
    return {path: it for path, it in groups.items() if path not in above or any(one.kind not in _TYPES for one in it)}


def _unknown_key(path: KeyPath, meant: KeyPath | None, schema: _Schema, *, newer: bool) -> Finding:
    table, name = path[:-1], str(path[-1])
    known = known_keys(schema, table)
    code = codes.UNKNOWN_POINT if table == ("contributes",) else codes.UNKNOWN_KEY
    what = "contribution point" if code is codes.UNKNOWN_POINT else "key"
    message = f"unknown {what} {quoted(name)} in {_called(table)}"
    nearby = str(meant[-1]) if meant else nearest(name, known)
    home = next((it for it in (("plugin",), ("contributes",)) if table == () and name in known_keys(schema, it)), None)
    if home:
        hint = f"it belongs under {_called(home)}"
    elif nearby:
        hint = f'did you mean "{nearby}"?  {known.get(nearby, "")}'.strip()
    else:
        hint = f"expected {listed(sorted(known), 'or')}" if known and not newer else ""
    return Finding(codes.NEWER_LEVEL if newer else code, path, message, hint, on="key")


def _missing_key(path: KeyPath, schema: _Schema) -> Finding:
    """A required key that the table at its parent's path lacks."""
    table, name = path[:-1], str(path[-1])
    if path == ("plugin",):
        hint = "it begins every manifest and holds id, version and api"
        return Finding(codes.MISSING_KEY, (), "there is no [plugin] table", hint, on="key")
    meaning = known_keys(schema, table).get(name, "")
    return Finding(codes.MISSING_KEY, table, f"no {quoted(name)} in {_called(table)}", meaning, on="key")


def _bad_value(path: KeyPath, errors: Sequence[ModelError], found: Any) -> Finding:
    """A value that the model refuses. Of several errors the first that is not about its type counts."""
    error = next((it for it in errors if it.kind not in _TYPES), None)
    if error is None:
        return _wrong_type(path, list(dict.fromkeys(_TYPES[it.kind] for it in errors)), found)
    key = _called(path)
    if error.kind == "string_pattern_mismatch":
        on_key = is_table(found)
        code, message, hint = name_fault(error.context["pattern"], key, str(path[-1]) if on_key else str(found))
        return Finding(code, path, message, hint, on="key" if on_key else "value")
    if error.kind == "literal_error":
        return _not_a_choice(path, key, found, str(error.context["expected"]))
    if error.kind in _BOUNDS:
        bound, words = _BOUNDS[error.kind]
        message = f"{key} is {quoted(found)}, expected {words} {_number(error.context[bound])}"
        return Finding(codes.OUT_OF_RANGE, path, message)
    if error.kind not in _LENGTHS:
        return Finding(
            codes.WRONG_TYPE, path, f"{key} is {quoted(found)}, which is refused: {error.kind.replace('_', ' ')}"
        )
    bound, words = _LENGTHS[error.kind]
    noun = "character" if isinstance(found, str) else "item"
    length = f" with {counted(len(found), noun)}" if found else " with nothing in it" if found == [] else ""
    message = f"{key} is {quoted(found)}{length}, expected {words.format(counted(error.context[bound], noun))}"
    return Finding(codes.TEXT_SHAPE, path, message)


def _not_a_choice(path: KeyPath, key: str, found: Any, expected: str) -> Finding:
    choices = [it.strip("'") for it in expected.replace(" or ", ", ").split(", ")]
    hint = did_you_mean(found, choices) if isinstance(found, str) else ""
    message = f"{key} is {quoted(found)}, expected {listed([quoted(it) for it in choices], 'or')}"
    return Finding(codes.NOT_A_CHOICE, path, message, hint)


def _wrong_type(path: KeyPath, wanted: list[str], found: Any) -> Finding:
    point = path[-1] if path[:1] == ("contributes",) and len(path) == 2 else ""  # noqa: PLR2004 - contributes.tools
    start = f"{_called(path)} is {quoted(found)}, expected"
    if not point:
        return Finding(codes.WRONG_TYPE, path, f"{start} {listed(wanted, 'or')}", _about_quotes(wanted, found))
    if wanted == ["a list"]:
        message, hint = f"{start} an array of tables", f"write [[contributes.{point}]]"
    else:
        message, hint = f"{start} a table of named tables", f"write [contributes.{point}.<name>]"
    return Finding(codes.WRONG_KIND_OF_TABLE, path, message, hint, on="key")


def _about_quotes(wanted: list[str], found: Any) -> str:
    if isinstance(found, str):
        bare = found.strip().lower()
        fits = {"true or false": bare in {"true", "false"}, "a whole number": bare.isdecimal()}
        return "write it without quotes" if any(fits.get(it) for it in wanted) else ""
    return "write it in quotes" if wanted == ["text"] and isinstance(found, (bool, int, float)) else ""


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:,}"


def _called(path: KeyPath) -> str:
    """What a person calls the thing at a path: `[plugin]`, `search`, `[[contributes.tools]]`, `limit`."""
    match path:
        case ():
            name = "the manifest"
        case (table,):
            name = f"[{table}]"
        case ("contributes", point):
            name = f"contributes.{point}"
        case ("contributes", point, int()):
            name = f"[[contributes.{point}]]"
        case ("contributes", point, table):
            name = f"[contributes.{point}.{table}]"
        case (*_, key, int()):
            name = f"an item of {key}"
        case _:
            name = str(path[-1])
    return visible(name)


def known_keys(schema: _Schema, path: KeyPath) -> dict[str, str]:
    """Key → meaning for the table at a path, by the published schema; empty where names are free."""
    here: Any = schema
    for step in path:
        table = _resolved(schema, here)
        named: Any = [*table.get("patternProperties", {}).values(), None][0]
        here = table.get("items") if isinstance(step, int) else table.get("properties", {}).get(step, named)
        if here is None:
            return {}
    return {name: it.get("description", "") for name, it in _resolved(schema, here).get("properties", {}).items()}


def _resolved(schema: _Schema, here: _Schema) -> _Schema:
    return (resolve(schema, here["$ref"]) or {}) if "$ref" in here else here
