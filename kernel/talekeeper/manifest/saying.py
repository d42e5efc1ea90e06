"""Sentences for the model's errors: what was found, what was expected, what was probably meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from talekeeper.config import KeyPath, did_you_mean, nearest
from talekeeper.manifest.codes import contributions as codes
from talekeeper.manifest.codes import identity
from talekeeper.manifest.diagnostic import Finding
from talekeeper.manifest.keys import Keys
from talekeeper.manifest.name_faults import name_fault
from talekeeper.text import counted, is_table, listed, quoted, visible

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


class Error(NamedTuple):
    """One error of the model: pydantic's name for it, the path in the manifest, what the sentence needs."""

    kind: str
    path: KeyPath
    context: Mapping[str, Any]


def only_types(errors: Sequence[Error]) -> bool:
    """Whether all that is wrong is the type of the value."""
    return all(it.kind in _TYPES for it in errors)


def unknown(path: KeyPath, meant: KeyPath | None, keys: Keys, *, newer: bool) -> Finding:
    """An unknown key, and the one it stands for if that is known."""
    table, name = path[:-1], str(path[-1])
    known = keys.of(table)
    code = codes.UNKNOWN_POINT if table == ("contributes",) else codes.UNKNOWN_KEY
    what = "contribution point" if code is codes.UNKNOWN_POINT else "key"
    message = f"unknown {what} {quoted(name)} in {called(table)}"
    nearby = str(meant[-1]) if meant else nearest(name, known)
    home = next((it for it in (("plugin",), ("contributes",)) if table == () and name in keys.of(it)), None)
    if home:
        hint = f"it belongs under {called(home)}"
    elif nearby:
        hint = f'did you mean "{nearby}"?  {known.get(nearby, "")}'.strip()
    else:
        hint = f"expected {listed(sorted(known), 'or')}" if known and not newer else ""
    return Finding(identity.NEWER_LEVEL if newer else code, path, message, hint, on="key")


def missing(path: KeyPath, keys: Keys) -> Finding:
    """A required key that the table at its parent's path lacks."""
    table, name = path[:-1], str(path[-1])
    if path == ("plugin",):
        hint = "it begins every manifest and holds id, version and api"
        return Finding(codes.MISSING_KEY, (), "there is no [plugin] table", hint, on="key")
    meaning = keys.of(table).get(name, "")
    return Finding(codes.MISSING_KEY, table, f"no {quoted(name)} in {called(table)}", meaning, on="key")


def value(path: KeyPath, errors: Sequence[Error], found: Any) -> Finding:
    """A value that the model refuses. Of several errors the first that is not about its type is told."""
    error = next((it for it in errors if it.kind not in _TYPES), None)
    if error is None:
        return _wrong_type(path, list(dict.fromkeys(_TYPES[it.kind] for it in errors)), found)
    key = called(path)
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
    start = f"{called(path)} is {quoted(found)}, expected"
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


def called(path: KeyPath) -> str:
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
