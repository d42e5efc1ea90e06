"""What holds for a namespace beyond the shape of its table: the record schema, the searched properties, the seed.

Seed files are JSON Lines inside the package, one record a line, its key under `id`. `seed_rows` is the one reading of a
seed line: what checks seeds and what loads them both use it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from talekeeper.config import KeyPath, Table, did_you_mean
from talekeeper.json_schema import item_types, properties, required, schema_fault, types
from talekeeper.manifest import codes
from talekeeper.manifest.diagnostic import Finding
from talekeeper.manifest.package import Package, PathRefused
from talekeeper.manifest.rules import schema_files
from talekeeper.manifest.rules.point import RuleContext, each, listed_once
from talekeeper.text import JSON_DEPTH_LIMIT, NotJson, is_table, json_depth, quoted, read_json, visible


def _limit(entry: Table) -> Iterator[Finding]:
    if entry.text("on-limit") == "oldest" and "limit" not in entry:
        only = " of an append-only namespace" if entry.raw.get("append-only") is True else ""
        message = f'on-limit = "oldest"{only} says what happens at a limit, and there is none'
        yield Finding(codes.OLDEST_OF_WHAT, entry.at("on-limit"), message)


def _schemas(context: RuleContext) -> Iterator[Finding]:
    for entry in context.entries:
        loaded = context.files.load(entry, "schema")
        yield from loaded.findings
        if loaded.schema is not None:
            yield from _searched(entry.table("search"), loaded.schema, entry.text("schema") or "")
            yield from _seeded(context, entry, loaded.schema)


def _searched(search: Table, schema: Mapping[str, Any], file: str) -> Iterator[Finding]:
    known = properties(schema)
    for key in ("text", "title", "speaker", "time", "tags", "when"):
        for path, name in search.texts(key):
            if name not in known:
                listed = ", ".join(visible(it) for it in list(known)[:8]) or "no properties"
                message = f"search.{key} names {quoted(name)}, which {visible(file)} does not have; it has {listed}"
                yield Finding(codes.NO_SUCH_PROPERTY, path, message, did_you_mean(name, known))
            elif reason := _wrong_type(key, schema, known[name]):
                yield Finding(codes.NOT_SEARCHABLE, path, f"search.{key} names {quoted(name)}, {reason}")
    yield from listed_once(search, "text", "search.text")
    yield from _optional(search, known, required(schema))


def _wrong_type(key: str, schema: Mapping[str, Any], declared: Any) -> str:
    found = types(schema, declared) - {"null"}
    said = " or ".join(sorted(found)) or "of no declared type"
    if key == "when":
        return "" if found == {"boolean"} else f"which is {said} in the record schema, expected boolean"
    if key != "tags":
        return "" if found == {"string"} else f"which is {said} in the record schema, expected string"
    items = item_types(schema, declared)
    if found == {"array"} and items == {"string"}:
        return ""
    said = f"array of {' or '.join(sorted(items)) or 'anything'}" if found == {"array"} else said
    return f"which is {said} in the record schema, expected array of string"


def _optional(search: Table, known: Mapping[str, Any], always: set[str]) -> Iterator[Finding]:
    names = [name for _, name in search.texts("text")]
    if names and all(name in known for name in names) and not always.intersection(names):
        message = f"no record needs to have {' or '.join(map(quoted, names))}, and one without it is never found"
        yield Finding(codes.OFTEN_ABSENT, search.at("text"), message)


def _seeded(context: RuleContext, entry: Table, schema: Mapping[str, Any]) -> Iterator[Finding]:
    pattern, path = entry.text("seed"), entry.at("seed")
    if not pattern:
        return
    package = context.files.package
    try:
        files = package.matching(pattern)
        lost = [it for it in (schema_files.missing_file(package, path, file) for file in files) if it]
        lines, faults = (0, []) if lost else survey(package, files, schema)
    except PathRefused as refusal:
        yield Finding(codes.OUTSIDE, path, f"{quoted(pattern)} is not a path inside the package: {refusal}")
        return
    except OSError as error:
        yield schema_files.unreadable_file(path, pattern, error)
        return
    if not files:
        yield Finding(codes.NO_SEED, path, f"no file in the package matches {quoted(pattern)}")
    yield from lost
    for fault in faults:
        yield Finding(codes.BAD_SEED, path, fault)
    yield from _too_long(entry, path, lines)


def _too_long(entry: Table, path: KeyPath, lines: int) -> Iterator[Finding]:
    limit = entry.whole("limit")
    if entry.text("scope") in {None, "session"} and lines > codes.SESSION_SEED_LINES:
        message = f"the seed has {lines:,} lines, at most {codes.SESSION_SEED_LINES} are loaded into a session"
        yield Finding(codes.SEED_TOO_LONG, path, message)
    elif limit is not None and lines > limit:
        yield Finding(codes.SEED_TOO_LONG, path, f"the seed has {lines:,} lines, and limit is {limit:,}")


RULES = (each(_limit), _schemas)

SIZE_LIMIT = codes.SEED_MIB * 1024 * 1024
_MOST_FAULTS = 5


class SeedRow(NamedTuple):
    """One line: its number from 1, the record's key and value. `fault` says why there is none."""

    line: int
    key: str = ""
    value: Mapping[str, Any] | None = None
    fault: str = ""


def seed_rows(raw: bytes, schema: Mapping[str, Any]) -> Iterator[SeedRow]:
    """The rows of one file; blank lines are skipped. `id` stays in the value only if the record schema has it.

    The value's agreement with the schema is not checked here.
    """
    keep_id = "id" in properties(schema)
    for number, line in enumerate(raw.split(b"\n"), start=1):
        if line.strip():
            yield _row(number, line, keep_id=keep_id)


def survey(package: Package, files: Sequence[str], schema: Mapping[str, Any]) -> tuple[int, list[str]]:
    """How many records the seed files hold, and the first five faults, each with file and line."""
    lines = 0
    faults: list[str] = []
    keys: dict[str, str] = {}
    for file, row in _all_rows(package, files, schema):
        lines += 1
        where = f"{visible(file)}:{row.line}"
        fault = row.fault or (f"{quoted(row.key)} stands at {keys[row.key]} already" if row.key in keys else "")
        fault = fault or " ".join(schema_fault(schema, row.value) or ()).strip()
        keys.setdefault(row.key, where)
        if fault:
            faults.append(f"{where}: {fault}")
        if len(faults) == _MOST_FAULTS:
            break
    return lines, faults


def _all_rows(package: Package, files: Sequence[str], schema: Mapping[str, Any]) -> Iterator[tuple[str, SeedRow]]:
    for file in files:
        raw = package.read(file, SIZE_LIMIT + 1)
        if len(raw) > SIZE_LIMIT:
            yield file, SeedRow(1, fault=f"the file is larger than {codes.SEED_MIB} MiB")
        else:
            yield from ((file, row) for row in seed_rows(raw, schema))


def _row(number: int, line: bytes, *, keep_id: bool) -> SeedRow:
    try:
        value = read_json(line)
    except NotJson as refusal:
        column = f" (column {refusal.place.rpartition(':')[2]})" if refusal.place else ""
        return SeedRow(number, fault=f"{refusal}{column}")
    if not is_table(value):
        return SeedRow(number, fault="is not a JSON object")
    if json_depth(value) > JSON_DEPTH_LIMIT:
        return SeedRow(number, fault=f"is nested more than {JSON_DEPTH_LIMIT} levels deep")
    key = value.get("id")
    if not isinstance(key, str) or not key.strip() or len(key) > codes.SEED_KEY_LENGTH:
        return SeedRow(number, fault=f'has no text of 1 to {codes.SEED_KEY_LENGTH} characters under "id"')
    return SeedRow(number, key, value if keep_id else {name: it for name, it in value.items() if name != "id"})
