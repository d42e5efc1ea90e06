"""Seed files: JSON Lines inside the package, one record a line, its key under `id`.

`rows` is the one reading of a seed line; what checks seeds and what loads them both use it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from talekeeper.json_schema import properties, schema_fault
from talekeeper.manifest.limits import SEED_KEY_LENGTH, SEED_MIB
from talekeeper.manifest.package import Package
from talekeeper.text import JSON_DEPTH_LIMIT, NotJson, is_table, json_depth, quoted, read_json, visible

SIZE_LIMIT = SEED_MIB * 1024 * 1024
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


class Survey(NamedTuple):
    """All seed files of a namespace: how many records they hold and the first faults, each with file and line."""

    lines: int
    faults: tuple[str, ...]


def survey(package: Package, files: Sequence[str], schema: Mapping[str, Any]) -> Survey:
    """Reads every line of the files and checks it against the record schema; stops after five faults."""
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
    return Survey(lines, tuple(faults))


def _all_rows(package: Package, files: Sequence[str], schema: Mapping[str, Any]) -> Iterator[tuple[str, SeedRow]]:
    for file in files:
        raw = package.read(file, SIZE_LIMIT + 1)
        if len(raw) > SIZE_LIMIT:
            yield file, SeedRow(1, fault=f"the file is larger than {SEED_MIB} MiB")
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
    if not isinstance(key, str) or not key.strip() or len(key) > SEED_KEY_LENGTH:
        return SeedRow(number, fault=f'has no text of 1 to {SEED_KEY_LENGTH} characters under "id"')
    return SeedRow(number, key, value if keep_id else {name: it for name, it in value.items() if name != "id"})
