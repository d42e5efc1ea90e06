"""Writes `schema/store.sqlite.sql`: the schema a new database has, in the form it is compared in.

With `--check` nothing is written, and the exit code is 1 when the file is not up to date.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from talekeeper.clock import SystemClock
from talekeeper.db import Database, Tx

GOLDEN = Path(__file__).parents[1] / "schema" / "store.sqlite.sql"
_HEAD = "-- The schema of a new database, in order of names; made by scripts/make_store_schema.py.\n"


def schema_of(path: Path) -> str:
    """The schema of the database at `path`, which is made when it is not there."""
    db = Database.open(path, clock=SystemClock())
    try:
        return db.read(_schema)
    finally:
        db.close()


def _schema(tx: Tx) -> str:
    version = tx.rows("PRAGMA user_version")[0][0]
    rows = tx.rows("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY tbl_name, type DESC, name")
    return "\n".join([_HEAD, f"PRAGMA user_version = {version};\n", *(f"{sql};\n" for (sql,) in rows)])


def main() -> int:
    """Writes or checks the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail when the file is not up to date")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        schema = schema_of(Path(folder) / "talekeeper.sqlite")
    if arguments.check:
        if GOLDEN.exists() and GOLDEN.read_text("utf-8") == schema:
            return 0
        print(f"{GOLDEN.name} is not up to date; run python scripts/make_store_schema.py", file=sys.stderr)
        return 1
    GOLDEN.write_text(schema, "utf-8")
    print(f"wrote {GOLDEN.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
