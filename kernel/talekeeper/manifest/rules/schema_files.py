"""Schema files that a manifest names: found inside the package, read as JSON, checked against the metaschema."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from talekeeper.config import KeyPath, Table, did_you_mean
from talekeeper.json_schema import DIALECT, endless, invalid_schema, references, resolve, subschemas
from talekeeper.manifest import codes
from talekeeper.manifest.codes import Code
from talekeeper.manifest.diagnostic import Finding
from talekeeper.manifest.package import Package, PathRefused
from talekeeper.text import JSON_DEPTH_LIMIT, NotJson, is_table, json_depth, quoted, read_json, visible

SIZE_LIMIT = codes.SCHEMA_KIB * 1024
_MOST_FAULTS = 5
_ABOUT_TYPES = "no such type; there are array, boolean, integer, null, number, object and string"


_Checked = tuple[Mapping[str, Any] | None, list[tuple[Code, str]]]
"""The schema of a file, if it is sound, and its faults: each a code and how the sentence goes on after the name."""


class SchemaFile(NamedTuple):
    """A schema file as read. `schema` is None when anything is wrong with it, and `findings` says what."""

    schema: Mapping[str, Any] | None
    findings: tuple[Finding, ...] = ()


class SchemaFiles:
    """The schema files of one package, each read and checked once."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self._checked: dict[str, _Checked] = {}

    def load(self, table: Table, key: str) -> SchemaFile:
        """The schema that `table[key]` names; no schema and no finding when the key is not a text."""
        name = table.text(key)
        if not name:
            return SchemaFile(None)
        path = table.at(key)
        missing = missing_file(self.package, path, name)
        if missing:
            return SchemaFile(None, (missing,))
        if name not in self._checked:
            try:
                self._checked[name] = _checked(self.package.read(name, SIZE_LIMIT + 1))
            except OSError as error:
                return SchemaFile(None, (unreadable_file(path, name, error),))
        schema, faults = self._checked[name]
        return SchemaFile(schema, tuple(Finding(code, path, f"{visible(name)}{said}") for code, said in faults))


def missing_file(package: Package, path: KeyPath, name: str) -> Finding | None:
    """The finding for a file name that leads to no file, else None."""
    try:
        return None if package.has(name) else _not_a_file(package, path, name)
    except PathRefused as refusal:
        return Finding(codes.OUTSIDE, path, f"{quoted(name)} is not a path inside the package: {refusal}")
    except (OSError, ValueError) as error:
        return unreadable_file(path, name, error)


def unreadable_file(path: KeyPath, name: str, error: Exception) -> Finding:
    """The finding for a file that the system does not let us read."""
    reason = getattr(error, "strerror", None) or "it is no name of a file"
    return Finding(codes.NO_SUCH_FILE, path, f"{quoted(name)} cannot be read: {visible(reason).lower()}")


def _not_a_file(package: Package, path: KeyPath, name: str) -> Finding:
    if package.is_folder(name):
        return Finding(codes.NO_SUCH_FILE, path, f"{quoted(name)} is a folder, expected a file")
    beside = name.rpartition("/")[0]
    names = package.matching(f"{beside}/*" if beside else "*")
    if name in names:
        return Finding(codes.NO_SUCH_FILE, path, f"{quoted(name)} is no regular file")
    meant = did_you_mean(name, names)
    return Finding(codes.NO_SUCH_FILE, path, f"there is no file {quoted(name)} in the package", meant)


def _checked(raw: bytes) -> _Checked:
    if len(raw) > SIZE_LIMIT:
        return None, [(codes.NOT_JSON_FILE, f" is larger than {SIZE_LIMIT:,} bytes")]
    try:
        schema = read_json(raw)
    except NotJson as refusal:
        return None, [(codes.NOT_JSON_FILE, f"{refusal.place} {refusal}")]
    if not is_table(schema):
        return None, [(codes.NOT_OF_OBJECTS, f" holds {quoted(schema)}, expected a schema of objects")]
    faults = list(_faults(schema))
    return None if faults else schema, faults


def _faults(schema: dict[str, Any]) -> Iterator[tuple[Code, str]]:
    if json_depth(schema) > JSON_DEPTH_LIMIT:
        yield codes.NOT_A_SCHEMA, f" is nested more than {JSON_DEPTH_LIMIT} levels deep"
        return
    faults = invalid_schema(schema)
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
