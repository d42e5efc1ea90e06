"""Schema files that a manifest names: found inside the package, read as JSON, checked against the metaschema.

jsonschema is imported for the first file that is not plainly valid.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any, NamedTuple

from talekeeper.manifest import json_text
from talekeeper.manifest.codes import across as codes
from talekeeper.manifest.diagnostic import Code, Finding
from talekeeper.manifest.disagreement import schema_faults
from talekeeper.manifest.package import Package, PathRefused
from talekeeper.manifest.plain_schema import plainly_valid
from talekeeper.manifest.positions import Path
from talekeeper.manifest.references import endless, references, resolve, subschemas
from talekeeper.manifest.suggest import did_you_mean
from talekeeper.manifest.table import Table, is_array, is_table
from talekeeper.manifest.wording import quoted, visible

DIALECT = "https://json-schema.org/draft/2020-12/schema"
SIZE_LIMIT = 256 * 1024
_MOST_FAULTS = 5
_ABOUT_TYPES = "no such type; there are array, boolean, integer, null, number, object and string"


class SchemaFile(NamedTuple):
    """A schema file as read. `schema` is None when anything is wrong with it, and `findings` says what."""

    schema: Mapping[str, Any] | None
    findings: tuple[Finding, ...] = ()


class _Verdict(NamedTuple):
    """What the bytes of a schema file amount to; each fault is a code and how the sentence goes on after the name."""

    schema: Mapping[str, Any] | None
    faults: tuple[tuple[Code, str], ...]


class _Refused(Exception):
    def __init__(self, code: Code, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


def load(package: Package, table: Table, key: str) -> SchemaFile:
    """Reads and checks the schema that `table[key]` names; no schema and no finding when the key is not a text."""
    name = table.text(key)
    if not name:
        return SchemaFile(None)
    path = table.at(key)
    missing = missing_file(package, path, name)
    if missing:
        return SchemaFile(None, (missing,))
    try:
        verdict = _judged(package.read(name, SIZE_LIMIT + 1))
    except OSError as error:
        return SchemaFile(None, (unreadable_file(path, name, error),))
    return SchemaFile(verdict.schema, tuple(Finding(code, path, f"{visible(name)}{it}") for code, it in verdict.faults))


def missing_file(package: Package, path: Path, name: str) -> Finding | None:
    """What is wrong with a file name in the manifest, if anything."""
    try:
        return None if package.has(name) else _not_a_file(package, path, name)
    except PathRefused as refusal:
        return Finding(codes.OUTSIDE, path, f"{quoted(name)} is not a path inside the package: {refusal}")
    except (OSError, ValueError) as error:
        return unreadable_file(path, name, error)


def unreadable_file(path: Path, name: str, error: Exception) -> Finding:
    """What is said of a file that the system does not let anybody look at."""
    reason = getattr(error, "strerror", None) or "it is no name of a file"
    return Finding(codes.NO_SUCH_FILE, path, f"{quoted(name)} cannot be read: {visible(reason).lower()}")


def _not_a_file(package: Package, path: Path, name: str) -> Finding:
    if package.is_folder(name):
        return Finding(codes.NO_SUCH_FILE, path, f"{quoted(name)} is a folder, expected a file")
    beside = name.rpartition("/")[0]
    names = package.matching(f"{beside}/*" if beside else "*")
    if name in names:
        return Finding(codes.NO_SUCH_FILE, path, f"{quoted(name)} is no regular file")
    meant = did_you_mean(name, names)
    return Finding(codes.NO_SUCH_FILE, path, f"there is no file {quoted(name)} in the package", meant)


@lru_cache(maxsize=32)
def _judged(raw: bytes) -> _Verdict:
    try:
        schema = _parsed(raw)
    except _Refused as refusal:
        return _Verdict(None, ((refusal.code, str(refusal)),))
    faults = tuple(_faults(schema))
    return _Verdict(None if faults else schema, faults)


def _parsed(raw: bytes) -> dict[str, Any]:
    if len(raw) > SIZE_LIMIT:
        raise _Refused(codes.NOT_JSON_FILE, f" is larger than {SIZE_LIMIT:,} bytes")
    try:
        schema = json_text.read(raw)
    except json_text.NotJson as refusal:
        raise _Refused(codes.NOT_JSON_FILE, f"{refusal.place} {refusal}") from None
    if not is_table(schema):
        raise _Refused(codes.NOT_OF_OBJECTS, f" holds {quoted(schema)}, expected a schema of objects")
    return schema


def _faults(schema: dict[str, Any]) -> Iterator[tuple[Code, str]]:
    if json_text.depth(schema) > json_text.DEPTH_LIMIT:
        yield codes.NOT_A_SCHEMA, f" is nested more than {json_text.DEPTH_LIMIT} levels deep"
        return
    faults = [] if plainly_valid(schema) else sorted(schema_faults(metaschema(), schema))
    for place, sentence in faults[:_MOST_FAULTS]:
        about = _ABOUT_TYPES if _is_type(place) else sentence
        yield codes.NOT_A_SCHEMA, f"#/{place}: {about}"
    if faults:
        return
    others = {part["$schema"] for part in subschemas(schema) if "$schema" in part} - {DIALECT, f"{DIALECT}#"}
    for dialect in sorted(others):
        yield codes.NOT_A_SCHEMA, f" is written for {quoted(dialect)}, expected {DIALECT}"
    yield from _reference_faults(schema)
    if any("pattern" in part or "patternProperties" in part for part in subschemas(schema)):
        yield codes.EXPRESSION, " has a regular expression"
    if schema.get("type") != "object":
        found = f"has type {quoted(schema['type'])}" if "type" in schema else "has no type"
        yield codes.NOT_OF_OBJECTS, f' {found} at its top, expected "object"'


def _is_type(place: str) -> bool:
    *above, last = place.split("/")
    return last == "type" and above[-1:] != ["properties"]


def _reference_faults(schema: dict[str, Any]) -> Iterator[tuple[Code, str]]:
    lost = False
    for part in subschemas(schema):
        if part is not schema and "$id" in part:
            # References below it would begin there, and no longer at the top of the file.
            yield codes.REMOTE_REFERENCE, f" has a schema within it that calls itself {quoted(part['$id'])}"
    for reference in references(schema):
        if not reference.startswith("#"):
            yield codes.REMOTE_REFERENCE, f" refers to {quoted(reference)}, outside itself"
        elif resolve(schema, reference) is None:
            yield codes.REMOTE_REFERENCE, f" refers to {quoted(reference)}, which is no schema in it"
        else:
            continue
        lost = True
    if not lost and endless(schema):
        yield codes.REMOTE_REFERENCE, " refers to itself without end"


@lru_cache(maxsize=1)
def metaschema() -> Any:
    """A validator of the 2020-12 metaschema with its vocabularies merged into one schema.

    The published one reaches every subschema through `$dynamicRef` over seven documents: 8 ms for a schema of eight
    properties, 0.8 ms merged. A test holds the verdicts of the two equal.
    """
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - 50 ms, paid only by who has a schema that is not plain

    specifications: Any = import_module("jsonschema_specifications")  # it carries no types
    published: Any = Draft202012Validator.META_SCHEMA
    base = published["$id"].removesuffix("schema")
    merged: dict[str, Any] = {"type": ["object", "boolean"], "properties": {}, "$defs": {}}
    for part in (*(specifications.REGISTRY.contents(base + it["$ref"]) for it in published["allOf"]), published):
        flat = _flat(part)
        merged["properties"].update(flat.get("properties", {}))
        merged["$defs"].update(flat.get("$defs", {}))
    return Draft202012Validator(merged)


def _flat(value: Any) -> Any:
    # A keyword has a text for its value; the metaschema also has properties of these names, which are tables.
    if is_table(value):
        if isinstance(value.get("$dynamicRef"), str):
            return {"$ref": "#"}
        dropped = {key for key in ("$dynamicAnchor", "$id", "$schema") if isinstance(value.get(key), str)}
        return {key: _flat(_here(key, item)) for key, item in value.items() if key not in dropped}
    return [_flat(item) for item in value] if is_array(value) else value


def _here(keyword: str, value: Any) -> Any:
    # Some references lead into another of the documents; all of them are one now.
    return f"#{value.partition('#')[2]}" if keyword == "$ref" and isinstance(value, str) else value
