"""Schema files that a manifest names: found inside the package, read as JSON, checked against the metaschema.

jsonschema is imported on the first file that needs it: it takes longer to load than everything else of a validation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from talekeeper.manifest.codes import across as codes
from talekeeper.manifest.diagnostic import Code, Finding
from talekeeper.manifest.names import quoted, visible
from talekeeper.manifest.package import Package, PathRefused
from talekeeper.manifest.positions import Path, pointer
from talekeeper.manifest.table import Table

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

SIZE_LIMIT = 256 * 1024
DEPTH_LIMIT = 64
_MOST_FAULTS = 5


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """A schema file as read. `schema` is None when anything is wrong with it, and `findings` says what."""

    schema: Mapping[str, Any] | None
    findings: tuple[Finding, ...] = ()


class _Doubled(ValueError):
    pass


def load(package: Package, table: Table, key: str) -> SchemaFile:
    """Reads and checks the schema that `table[key]` names; no schema and no finding when the key is not a text."""
    name = table.text(key)
    if not name:
        return SchemaFile(None)
    path = table.at(key)
    missing = missing_file(package, path, name)
    if missing:
        return SchemaFile(None, (missing,))
    return _checked(package.read(name, SIZE_LIMIT + 1), name, path)


def missing_file(package: Package, path: Path, name: str) -> Finding | None:
    """What is wrong with a file name in the manifest, if anything."""
    try:
        if package.has(name):
            return None
    except PathRefused as refusal:
        return Finding(codes.OUTSIDE, path, f"{quoted(name)} is not a path inside the package: {refusal}")
    except (OSError, ValueError) as error:
        return Finding(codes.NO_SUCH_FILE, path, f"{quoted(name)} cannot be looked for: {visible(str(error))}")
    return Finding(codes.NO_SUCH_FILE, path, f"there is no file {quoted(name)} in the package")


@lru_cache(maxsize=256)
def _checked(raw: bytes, name: str, path: Path) -> SchemaFile:
    def refused(code: Code, reason: str) -> SchemaFile:
        return SchemaFile(None, (Finding(code, path, f"{visible(name)}{reason}"),))

    if len(raw) > SIZE_LIMIT:
        return refused(codes.NOT_JSON_FILE, f" is larger than {SIZE_LIMIT:,} bytes")
    try:
        schema = json.loads(raw.decode(), object_pairs_hook=_no_doubles, parse_constant=_no_constants)
    except json.JSONDecodeError as error:
        return refused(codes.NOT_JSON_FILE, f":{error.lineno}:{error.colno} is not JSON: {error.msg.lower()}")
    except _Doubled as error:
        return refused(codes.NOT_JSON_FILE, f" is not JSON: {error}")
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        return refused(codes.NOT_JSON_FILE, f" is not JSON: {_reason(error)}")
    if not isinstance(schema, dict):
        return refused(codes.NOT_OF_OBJECTS, f" holds {quoted(schema)}, expected a schema of objects")
    findings = tuple(_faults(schema, name, path))
    return SchemaFile(None if findings else schema, findings)


def _no_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _Doubled(f"the key {quoted(next(name for name in names if names.count(name) > 1))} stands twice")
    return found


def _no_constants(name: str) -> Any:
    raise _Doubled(f"{name} is not a JSON number")


def _reason(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else visible(str(error))


def _faults(schema: dict[str, Any], name: str, path: Path) -> Iterator[Finding]:
    if _depth(schema) > DEPTH_LIMIT:
        yield Finding(codes.NOT_A_SCHEMA, path, f"{visible(name)} is nested more than {DEPTH_LIMIT} levels deep")
        return
    errors = sorted(_metaschema().iter_errors(schema), key=lambda it: [str(step) for step in it.absolute_path])
    for error in errors[:_MOST_FAULTS]:
        where = f"{visible(name)}#{visible(pointer(tuple(error.absolute_path)))}"
        yield Finding(codes.NOT_A_SCHEMA, path, f"{where}: {visible(error.message)[:200]}")
    if errors:
        return
    for reference in _references(schema):
        yield from _lost(schema, reference, name, path)
    if schema.get("type") != "object":
        found = quoted(schema["type"]) if "type" in schema else "missing"
        yield Finding(codes.NOT_OF_OBJECTS, path, f'the type in {visible(name)} is {found}, expected "object"')


def _depth(value: Any) -> int:
    deepest, waiting = 0, [(value, 1)]
    while waiting:
        here, depth = waiting.pop()
        deepest = max(deepest, depth)
        inner = here.values() if isinstance(here, dict) else here if isinstance(here, list) else ()
        waiting.extend((item, depth + 1) for item in inner)
    return deepest


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            if key in {"$ref", "$dynamicRef"} and isinstance(item, str):
                yield item
            elif key not in {"const", "enum", "default", "examples"}:
                yield from _references(item)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)


def _lost(schema: Mapping[str, Any], reference: str, name: str, path: Path) -> Iterator[Finding]:
    if not reference.startswith("#"):
        yield Finding(codes.REMOTE_REFERENCE, path, f"{visible(name)} refers to {quoted(reference)}, outside itself")
    elif resolve(schema, reference) is None:
        yield Finding(
            codes.REMOTE_REFERENCE, path, f"{visible(name)} refers to {quoted(reference)}, which is not there"
        )


def resolve(schema: Mapping[str, Any], reference: str) -> Mapping[str, Any] | None:
    """The subschema a JSON pointer in a fragment leads to. Anchors are not followed."""
    here: Any = schema
    for step in reference.removeprefix("#").split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        here = here.get(key) if isinstance(here, dict) else None
    return here if isinstance(here, dict) else None


def validator_of(schema: Mapping[str, Any]) -> Draft202012Validator:
    """A validator for a checked schema, which reaches no other document."""
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema)


@lru_cache(maxsize=1)
def _metaschema() -> Draft202012Validator:
    """The 2020-12 metaschema with its vocabularies merged into one schema.

    The published one reaches every subschema through `$dynamicRef` over seven documents: 8 ms for a schema of eight
    properties, 0.8 ms merged. A test holds the verdicts of the two equal.
    """
    from jsonschema import Draft202012Validator
    from jsonschema_specifications import REGISTRY

    published: Any = Draft202012Validator.META_SCHEMA
    base = published["$id"].removesuffix("schema")
    merged: dict[str, Any] = {"type": ["object", "boolean"], "properties": {}, "$defs": {}}
    for part in (*(REGISTRY.contents(base + it["$ref"]) for it in published["allOf"]), published):
        flat = _flat(part)
        merged["properties"].update(flat.get("properties", {}))
        merged["$defs"].update(flat.get("$defs", {}))
    return Draft202012Validator(merged)


def _flat(value: Any) -> Any:
    if isinstance(value, dict):
        if "$dynamicRef" in value:
            return {"$ref": "#"}
        return {key: _flat(item) for key, item in value.items() if key not in {"$dynamicAnchor", "$id", "$schema"}}
    return [_flat(item) for item in value] if isinstance(value, list) else value
