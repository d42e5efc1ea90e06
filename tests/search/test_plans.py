"""What is done to one passage does not read the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from talekeeper.db import Database, Tx
from talekeeper.search import Index, Passage, rebuild_index
from talekeeper.search.passage import Kind

Make = Callable[..., Passage]


def explained(db: Database, statements: Sequence[str]) -> list[str]:
    def explain(tx: Tx) -> list[str]:
        return [str(row[-1]) for one in statements for row in tx.rows(f"EXPLAIN QUERY PLAN {one}")]

    return db.read(explain)


def add(tx: Tx, index: Index, part: int, one: Passage) -> None:
    index.add(tx, part, one)


def remove(tx: Tx, index: Index, part: int, one: Passage) -> None:
    index.remove(tx, part, kind=Kind.RECORD, plugin=one.plugin, namespace=one.namespace, key=one.key)


def remove_a_version(tx: Tx, index: Index, part: int, one: Passage) -> None:
    index.remove(tx, part, kind=Kind.RECORD, plugin=one.plugin, namespace=one.namespace, key=one.key, revision=0)


@pytest.mark.parametrize("change", [add, remove, remove_a_version])
def test_a_change_finds_its_passage_by_an_index(
    db: Database, index: Index, part: int, record: Make, change: Callable[[Tx, Index, int, Passage], None]
) -> None:
    db.write(lambda tx: index.add(tx, part, record("gold", "k")), name="fill")
    statements: list[str] = []
    db.trace(statements.append)

    db.write(lambda tx: change(tx, index, part, record("gold", "k")), name="change")

    db.trace(None)
    asked = [one for one in statements if one.lstrip().startswith(("SELECT", "DELETE")) and " doc " in one]
    plans = explained(db, asked)
    assert plans
    assert [plan for plan in plans if plan.endswith(" doc USING PRIMARY KEY (part=?)") or plan.startswith("SCAN")] == []


def test_a_rebuild_finds_each_passage_by_an_index(db: Database, index: Index, part: int, record: Make) -> None:
    passages = [record("gold", f"k{number}") for number in range(3)]
    db.write(lambda tx: [index.add(tx, part, one) for one in passages], name="fill")
    statements: list[str] = []
    db.trace(statements.append)

    rebuild_index(db, part, lambda _, __: (passages, None))

    db.trace(None)
    asked = [one for one in statements if "FROM doc WHERE" in one and "key =" in one]
    plans = explained(db, asked)
    assert plans
    assert [plan for plan in plans if plan.endswith(" doc USING PRIMARY KEY (part=?)")] == []
