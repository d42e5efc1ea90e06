"""The schema: the same from every start, and partitioned by workspace throughout."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from talekeeper.db import Database, Row, Tx
from talekeeper.db.connect import APPLICATION_ID, connect, migrate, migrations
from talekeeper.db.files import PRIVATE

ROOT = Path(__file__).parents[2]
# Tables of the index hold what belongs to a partition; the partition's own row says whose it is.
KEYED_BY_PART = {"doc", "tail", "dead", "part_source", "vector"}
INDEX_WIDE = {"part", "segment", "posting", "retired", "search_counter", "vector_space"}


def tables(tx: Tx) -> dict[str, list[str]]:
    """Primary key columns by table."""
    names = [row[0] for row in tx.rows("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    return {
        name: [row[1] for row in sorted(tx.rows(f"PRAGMA table_info({name})"), key=lambda row: int(row[5])) if row[5]]
        for name in names
    }


def indexes(tx: Tx) -> dict[str, tuple[str, list[str]]]:
    """Table and columns by index."""
    rows = tx.rows("SELECT name, tbl_name FROM sqlite_schema WHERE type = 'index'")
    return {name: (table, [row[2] for row in tx.rows(f"PRAGMA index_info({name})")]) for name, table in rows}


def test_the_golden_file_is_what_a_new_database_has() -> None:
    run = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "make_store_schema.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(ROOT / "kernel")},
    )

    assert run.stderr == ""
    assert run.returncode == 0


def table_info(name: str, tx: Tx) -> list[Row]:
    return tx.rows(f"PRAGMA table_info({name})")


def test_a_table_without_rowid_has_its_key_columns_first(db: Database) -> None:
    """SQLite up to 3.40 reports NULLs that are not there in any other, and a backup would be taken for damaged."""
    rows = db.read(lambda tx: tx.rows("SELECT name FROM sqlite_schema WHERE sql LIKE '%WITHOUT ROWID'"))

    keys = {name: db.read(partial(table_info, name)) for (name,) in rows}

    assert len(keys) > 10
    for name, columns in keys.items():
        places = [int(column[5]) for column in columns]
        assert places[: max(places)] == list(range(1, max(places) + 1)), name


@pytest.mark.parametrize("start", [pytest.param(number, id=f"from {number}") for number in range(len(migrations()))])
def test_migrating_from_every_earlier_version_gives_the_same_schema(
    path: Path, open_database: Callable[[], Database], start: int
) -> None:
    whole = open_database().read(lambda tx: tx.rows("SELECT sql FROM sqlite_schema ORDER BY name"))
    earlier = path.with_name("earlier.sqlite")
    earlier.touch(mode=PRIVATE)
    connection = connect(earlier)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")

    migrate(connection, earlier, migrations()[:start])
    migrate(connection, earlier)
    migrated = connection.execute("SELECT sql FROM sqlite_schema ORDER BY name").fetchall()
    connection.close()

    assert migrated == whole


def test_workspace_leads_every_key_of_a_tenant_table(db: Database) -> None:
    keys = db.read(tables)
    tenants = {name: key for name, key in keys.items() if name not in KEYED_BY_PART | INDEX_WIDE}

    assert {name for name, key in tenants.items() if key[:1] != ["workspace"]} == set()
    assert {name for name in KEYED_BY_PART if keys[name][:1] != ["part"]} == set()


def test_workspace_leads_every_index_of_a_tenant_table(db: Database) -> None:
    found = db.read(indexes)

    strays = {
        name
        for name, (table, columns) in found.items()
        if table not in KEYED_BY_PART | INDEX_WIDE and columns[0] != "workspace"
    }
    assert strays == set()


def test_every_table_is_strict(db: Database) -> None:
    lax = db.read(lambda tx: tx.rows("SELECT name FROM pragma_table_list WHERE schema = 'main' AND strict = 0"))

    assert {name for (name,) in lax if not name.startswith("sqlite_")} == set()


def test_migrations_are_numbered_without_a_gap() -> None:
    assert [step.number for step in migrations()] == list(range(1, len(migrations()) + 1))


def test_no_migration_opens_a_transaction_of_its_own() -> None:
    for step in migrations():
        assert not re.search(r"\b(BEGIN|COMMIT|VACUUM)\s*;", step.sql), step.name
