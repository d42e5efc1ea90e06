"""The model's errors → findings: one code for each kind of error, said in words of the manifest.

A missing and an unknown key that resemble each other become one finding. A value of several allowed types is complained
of once, by the most telling branch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from talekeeper.manifest.codes import contributions as codes
from talekeeper.manifest.codes import identity
from talekeeper.manifest.diagnostic import Finding
from talekeeper.manifest.keys import Keys
from talekeeper.manifest.names import misfit, quoted
from talekeeper.manifest.positions import Path
from talekeeper.manifest.suggest import nearest


class Error(NamedTuple):
    """One error of the model, with the path in the manifest it concerns."""

    kind: str
    path: Path
    context: Mapping[str, Any]


class Complaints(NamedTuple):
    """What the model has to say; which unknown keys are taken for which known ones; which are left out."""

    findings: list[Finding]
    respelled: dict[Path, Path]
    ignored: list[Path]


_WANTED = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
}
_BOUNDS = {
    "greater_than_equal": ("ge", "at least"),
    "less_than_equal": ("le", "at most"),
    "greater_than": ("gt", "more than"),
    "less_than": ("lt", "less than"),
}
_LENGTHS = {
    "string_too_short": ("min_length", "text of at least {} character(s)"),
    "string_too_long": ("max_length", "text of at most {} characters"),
    "too_short": ("min_length", "a list of at least {} item(s)"),
    "too_long": ("max_length", "a list of at most {} items"),
}


def complaints(model: type[BaseModel], data: Mapping[str, Any], *, newer: bool) -> Complaints:
    """All findings of the shape. `newer`: the manifest is of a later level than the host, so unknown keys only warn."""
    errors = _errors(model, data)
    unknown = [it for it in errors if it.kind == "extra_forbidden"]
    missing = {it.path for it in errors if it.kind == "missing"}
    keys = Keys(model)
    respelled = {} if newer else dict(_respelled(unknown, missing, data, keys))
    told = set(respelled.values())
    findings = [_unknown(it.path, respelled.get(it.path), keys, newer=newer) for it in unknown]
    findings += [_missing(it.path, keys) for it in errors if it.kind == "missing" and it.path not in told]
    others = [it for it in errors if it.kind not in {"extra_forbidden", "missing"}]
    findings += [_finding(path, group, data) for path, group in _grouped(others).items()]
    return Complaints(findings, respelled, [it.path for it in unknown] if newer else [])


def _errors(model: type[BaseModel], data: Mapping[str, Any]) -> list[Error]:
    try:
        model.model_validate(data)
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        return [Error(it["type"], _path(it["loc"], data), it.get("ctx", {})) for it in details]
    return []


def _path(location: tuple[str | int, ...], data: Any) -> Path:
    """The location without what is not in the file: `[key]` and the names of a union's branches."""
    path: Path = ()
    here = data
    for place, step in enumerate(location):
        last = place == len(location) - 1
        if isinstance(here, dict) and (step in here or (last and step != "[key]")):
            here = here.get(step)
        elif isinstance(here, list) and isinstance(step, int):
            here = here[step]
        else:
            continue
        path = (*path, step)
    return path


def _respelled(
    unknown: list[Error], missing: set[Path], data: Mapping[str, Any], keys: Keys
) -> Iterator[tuple[Path, Path]]:
    """Unknown keys that stand for a known one which the table lacks; a missing required one comes first."""
    taken: set[Path] = set()
    for error in unknown:
        table, name = error.path[:-1], str(error.path[-1])
        lacking = [it for it in missing if it[:-1] == table and it not in taken]
        free = [(*table, it) for it in keys.of(table) if it not in _at(data, table)]
        for candidates in (lacking, [it for it in free if it not in taken]):
            found = nearest(name, [str(it[-1]) for it in candidates])
            if found:
                taken.add((*table, found))
                yield error.path, (*table, found)
                break


def _at(data: Any, path: Path) -> Any:
    for step in path:
        data = data[step]
    return data


def _unknown(path: Path, meant: Path | None, keys: Keys, *, newer: bool) -> Finding:
    table, name = path[:-1], str(path[-1])
    known = keys.of(table)
    code = codes.UNKNOWN_POINT if table == ("contributes",) else codes.UNKNOWN_KEY
    what = "contribution point" if code is codes.UNKNOWN_POINT else "key"
    message = f"unknown {what} {quoted(name)} in {called(table)}"
    nearby = str(meant[-1]) if meant else nearest(name, known)
    if nearby:
        hint = f'did you mean "{nearby}"?  {known.get(nearby, "")}'.strip()
    else:
        hint = f"expected {listed(sorted(known))}" if known and not newer else ""
    return Finding(identity.NEWER_LEVEL if newer else code, path, message, hint, on="key")


def _missing(path: Path, keys: Keys) -> Finding:
    table, name = path[:-1], str(path[-1])
    if path == ("plugin",):
        return Finding(
            codes.MISSING_KEY, (), "there is no [plugin] table", "it holds id, version and api = 1", on="key"
        )
    meaning = keys.of(table).get(name, "")
    return Finding(codes.MISSING_KEY, table, f"no {quoted(name)} in {called(table)}", meaning, on="key")


def _grouped(errors: list[Error]) -> dict[Path, list[Error]]:
    groups: dict[Path, list[Error]] = {}
    for error in errors:
        groups.setdefault(error.path, []).append(error)
    # A list that is no text but has a bad item: the item is the fault.
    return {
        path: group
        for path, group in groups.items()
        if not (
            all(it.kind in _WANTED for it in group)
            and any(len(it) > len(path) and it[: len(path)] == path for it in groups)
        )
    }


def _finding(path: Path, group: list[Error], data: Mapping[str, Any]) -> Finding:
    telling = [it for it in group if it.kind not in _WANTED]
    return _telling(telling[0], data) if telling else _wrong_type(path, group, data)


def _telling(error: Error, data: Mapping[str, Any]) -> Finding:
    path, value = error.path, _at(data, error.path)
    key = called(path)
    if error.kind == "string_pattern_mismatch":
        named_table = isinstance(value, dict)
        code, message, hint = misfit(error.context["pattern"], key, str(path[-1]) if named_table else value)
        return Finding(code, path, message, hint, on="key" if named_table else "value")
    if error.kind == "literal_error":
        return _not_a_choice(path, key, value, str(error.context["expected"]))
    if error.kind in _BOUNDS:
        bound, words = _BOUNDS[error.kind]
        return Finding(codes.OUT_OF_RANGE, path, f"{key} is {quoted(value)}, expected {words} {error.context[bound]:,}")
    bound, words = _LENGTHS[error.kind]
    length = f" of {len(value):,}" if value else ""
    expected = words.format(f"{error.context[bound]:,}")
    return Finding(codes.TEXT_SHAPE, path, f"{key} is {quoted(value)}{length}, expected {expected}")


def _not_a_choice(path: Path, key: str, value: Any, expected: str) -> Finding:
    choices = [it.strip("'") for it in expected.replace(" or ", ", ").split(", ")]
    meant = nearest(value, choices) if isinstance(value, str) else None
    hint = f'did you mean "{meant}"?' if meant else ""
    message = f"{key} is {quoted(value)}, expected {listed([quoted(it) for it in choices], 'or')}"
    return Finding(codes.NOT_A_CHOICE, path, message, hint)


def _wrong_type(path: Path, group: list[Error], data: Mapping[str, Any]) -> Finding:
    value = _at(data, path)
    wanted = list(dict.fromkeys(_WANTED[it.kind] for it in group))
    if path[:1] == ("contributes",) and len(path) == 2 and wanted[0] in {"a list", "a table"}:  # noqa: PLR2004 - a point
        return _wrong_brackets(path, value, wanted[0])
    message = f"{called(path)} is {quoted(value)}, expected {listed(wanted, 'or')}"
    return Finding(codes.WRONG_TYPE, path, message)


def _wrong_brackets(path: Path, value: Any, wanted: str) -> Finding:
    point = path[-1]
    if wanted == "a list":
        header, kind = f"[[contributes.{point}]]", "an array of tables"
    else:
        header, kind = f"[contributes.{point}.<name>]", "a table of named tables"
    message = f"contributes.{point} is {quoted(value)}, expected {kind}"
    return Finding(codes.WRONG_KIND_OF_TABLE, path, message, f"write {header}", on="key")


def called(path: Path) -> str:
    """What a person calls the thing at a path: `[plugin]`, `search`, `[[contributes.tools]]`, `limit`."""
    if not path:
        return "the manifest"
    if path[0] == "contributes" and len(path) == 3:  # noqa: PLR2004 - an entry of a point
        return f"[[contributes.{path[1]}]]" if isinstance(path[2], int) else f"[contributes.{path[1]}.{path[2]}]"
    if len(path) == 1:
        return f"[{path[0]}]"
    if isinstance(path[-1], int):
        return f"an item of {path[-2]}"
    return str(path[-1])


def listed(items: list[str], last: str = "and") -> str:
    """`a, b and c`."""
    return f" {last} ".join([", ".join(items[:-1]), items[-1]]) if len(items) > 1 else "".join(items)
