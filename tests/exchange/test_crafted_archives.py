"""An archive that somebody changed restores as it stands, or ends in one sentence and leaves nothing behind."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from talekeeper.clock import FixedClock
from talekeeper.db import Database, Leases, Tx
from talekeeper.exchange import Options, Report, Source, restore_archive, write_archive
from talekeeper.exchange.archive import TABLES, VERSION, Chain, added
from talekeeper.ids import SortableIds
from talekeeper.manifest import Namespace, SearchTable
from talekeeper.search import Index
from talekeeper.story import Address, Draft, Scope, Story
from talekeeper.text import is_table

LORE = Namespace("lore", "entries", search=SearchTable(text=("body",)))
RULES = Namespace("lore", "rules", scope="workspace", search=SearchTable(text=("body",)))
HARBOUR = Address("default", "harbour")

Lines = list[dict[str, Any]]
Restore = Callable[[Lines], Report]

ODD = st.sampled_from(
    [None, True, -2, -1, 0, 1, 2**31, 2**53, 2**62, 2**63, 0.5, "", "x", "null", "{}", "[]", "2024-03-05T00:00:00.000Z"]
)
ANY_JSON = ODD | st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=4,
)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Lines:
    """The lines of an archive with a row of every table, without their hashes."""
    clock = FixedClock(datetime(2024, 3, 5, tzinfo=UTC))
    db = Database.open(tmp_path_factory.mktemp("good") / "good.sqlite", clock=clock, synchronous="OFF")
    story = Story(db, Index(), clock, SortableIds(clock))
    fill(story)
    written: list[str] = []
    sessions = story.sessions.all("default")
    write_archive(story, written.append, "default", sessions, written="x", progress=lambda _: None)
    db.close()
    return [{key: value for key, value in json.loads(line).items() if key != "hash"} for line in written]


def fill(story: Story) -> None:
    story.sessions.create("default", session_id="harbour", plugins=["lore"])
    story.messages.append(
        HARBOUR, [Draft("player", "who is there?", ref="a"), Draft("narrator", "the ferryman", ref="b")]
    )
    story.messages.append(
        HARBOUR, [Draft("player", "where to?"), Draft("narrator", "over", takes=(Draft("narrator", "home"),))]
    )
    story.tree.fork(HARBOUR, story.messages.read(HARBOUR)[1].coordinate, name="checkpoint")
    story.messages.append(HARBOUR, [Draft("player", "another way")])
    story.tree.undo(HARBOUR)
    story.messages.edit(HARBOUR, story.messages.read(HARBOUR)[0].id, "who is it?")
    end = story.messages.read(HARBOUR)[1].coordinate
    story.jobs.enqueue(HARBOUR, "lore", "extract", end, start=0)
    story.records.add(LORE, Scope("default", "harbour"), {"body": "nine arches"})
    story.records.put(LORE, Scope("default", "harbour"), "gone", {"body": "a secret"})
    story.records.forget(LORE, Scope("default", "harbour"), "gone")
    story.records.put(RULES, Scope("default"), "one", {"body": "no running"}, person=True)
    at = "2024-03-05T00:00:00.000Z"

    def of_plugins(tx: Tx) -> None:
        rows: dict[str, tuple[object, ...]] = {
            "plugin_namespace": ("default", "lore", "entries", 1),
            "plugin_switch": ("default", "harbour", "lore", 1, at),
            "plugin_setting": ("default", "harbour", "lore", "tone", '"dark"', at),
            "plugin_seed": ("default", "", "harbour", "lore", "entries", "d"),
            "plugin_seed_record": ("default", "", "harbour", "lore", "entries", "k", "d"),
            "usage": ("default", "harbour", 1, 1, "lore", "narrator", "small", 10, None, at, None, "USD"),
            "use": ("default", "harbour", "lore", "entries", "gone", 0, 1, 1),
            "decision": ("default", "harbour", "d1", 1, 0, 1, "lore", "facts", at, "{}"),
        }
        for table, values in rows.items():
            tx.run(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values))})", values)

    story.write(of_plugins, name="rows of plugins")


def hashed(lines: Lines) -> bytes:
    """The file, as somebody who knows the format writes it."""
    chain = Chain()
    return "".join(json.dumps({**line, "hash": chain.add(line)}) + "\n" for line in lines).encode()


@pytest.fixture
def restore(story: Story, leases: Leases) -> Restore:
    def run(lines: Lines) -> Report:
        source = Source(io.BytesIO(hashed(lines)), "x.jsonl")
        return restore_archive(story, leases, source, Options(), lambda _: None, None)

    return run


def stored(story: Story) -> dict[str, list[dict[str, Any]]]:
    """Every row an archive can hold, in the order of their keys."""

    def read(tx: Tx) -> dict[str, list[dict[str, Any]]]:
        return {
            name: [
                dict(zip(table.columns, row, strict=True))
                for row in tx.rows(f"SELECT {', '.join(table.columns)} FROM {name} ORDER BY {', '.join(table.key)}")
            ]
            for name, table in TABLES.items()
            if table.key
        }

    return story.read(read)


def told(lines: Lines) -> dict[str, list[dict[str, Any]]]:
    """The rows a file holds; the fences of its leases are another home's."""
    found: dict[str, list[dict[str, Any]]] = {name: [] for name, table in TABLES.items() if table.key}
    for line in lines:
        if line.get("table") in found:
            zero = {"fence": 0} if line["table"] == "job" else {}
            found[line["table"]].append({**line["row"], **zero})
    return {
        name: sorted(rows, key=lambda row: tuple(row[key] for key in TABLES[name].key)) for name, rows in found.items()
    }


def holds(story: Story, lines: Lines, report: Report) -> None:
    """The law: all of it is there and can be used, or one sentence and nothing."""
    try:
        if report.error is None:
            assert stored(story) == told(lines)
            assert story.index.check() == []
            for session in story.sessions.all("default"):
                story.messages.read(session.address)
                story.tree.takes(session.address)
                story.messages.append(session.address, [Draft("player", "and on")])
        else:
            assert not any(stored(story).values())
            assert re.match(r"x\.jsonl(:\d+)?: ", str(report.error))
            assert "\n" not in str(report.error)
            assert report.imported == 0
    finally:
        for workspace in story.workspaces.all():
            story.workspaces.delete(workspace.id)


def places(line: dict[str, Any]) -> list[tuple[str, ...]]:
    """The way to every value of a line."""
    found: list[tuple[str, ...]] = []
    for key, value in line.items():
        found.append((key,))
        found += [(key, *rest) for rest in places(value)] if is_table(value) else []
    return found


def changed(lines: Lines, way: tuple[Any, ...], value: object) -> Lines:
    copy: Lines = json.loads(json.dumps(lines))
    at: Any = copy
    for step in way[:-1]:
        at = at[step]
    at[way[-1]] = value
    return copy


def test_an_archive_of_version_1_has_its_later_columns_filled_in(story: Story, good: Lines, restore: Restore) -> None:
    def without(line: dict[str, Any]) -> dict[str, Any]:
        row = line.get("row", {})
        late = added(str(line.get("table")), row)
        return {**line, "row": {name: row[name] for name in row if name not in late}} if row else line

    first = [without(line) for line in changed(good, (0, "version"), 1)]
    whole = [{**line, "row": {**line["row"], **added(line["table"], line["row"])}} for line in first if "row" in line]

    report = restore(first)

    assert report.error is None
    assert stored(story) == told(whole)


def test_a_row_of_the_present_version_lacks_nothing(good: Lines, restore: Restore) -> None:
    lines: Lines = json.loads(json.dumps(good))
    row = next(line["row"] for line in lines if line.get("table") == "usage")
    del row["currency"]

    report = restore(lines)

    assert "has not the columns of table 'usage': currency" in str(report.error)


def test_columns_come_and_go_with_the_version_alone() -> None:
    count = sum(len(table.columns) for table in TABLES.values())

    assert (VERSION, count) == (2, 148)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_a_value_changed_to_any_other_restores_exactly_or_says_why_not(
    story: Story, good: Lines, restore: Restore, data: st.DataObject
) -> None:
    number = data.draw(st.integers(0, len(good) - 1))
    way = data.draw(st.sampled_from(places(good[number])))
    lines = changed(good, (number, *way), data.draw(ANY_JSON))

    report = restore(lines)

    holds(story, lines, report)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_lines_dropped_doubled_or_swapped_restore_exactly_or_say_why_not(
    story: Story, good: Lines, restore: Restore, data: st.DataObject
) -> None:
    lines = list(good)
    one, other = (data.draw(st.integers(0, len(good) - 1)) for _ in range(2))
    match data.draw(st.sampled_from(["drop", "double", "swap"])):
        case "drop":
            del lines[one]
        case "double":
            lines.insert(other, lines[one])
        case _:
            lines[one], lines[other] = lines[other], lines[one]
    if data.draw(st.booleans()) and lines:
        lines[-1] = {"end": {"sessions": 1, "lines": len(lines) - 1}}

    report = restore(lines)

    holds(story, lines, report)


def column(table: str, name: str, value: object) -> Any:
    return pytest.param(table, name, value, id=f"{table}.{name}={str(value)[:20]}")


@pytest.mark.parametrize(
    ("table", "name", "value"),
    [
        *(column("session", name, value) for name in ("plugins", "settings") for value in (None, "null", "{", 1)),
        column("session", "plugins", "[1]"),
        column("session", "settings", "[]"),
        *(column("message", name, 2**62) for name in ("depth", "turn", "seq", "revision")),
        column("message", "depth", 2**63),
        column("message", "role", "wizard"),
        column("message", "hidden", 2),
        column("message", "text", None),
        column("message", "branch", 7),
        *(column("record", "value", value) for value in ("[]", "1", "null", "{]", '{"a": NaN}')),
        column("record", "depth", 2**62),
        column("branch", "parent", 5),
        column("lineage", "upto", 0),
        column("declared", "search", '{"text": 1}'),
        column("job", "details", "null"),
        column("session", "head_depth", 40),
        column("session", "messages", 99),
    ],
)
def test_the_sentence_names_line_column_and_cure(
    story: Story, good: Lines, restore: Restore, table: str, name: str, value: object
) -> None:
    number = next(place for place, line in enumerate(good) if line.get("table") == table)
    lines = changed(good, (number, "row", name), value)

    sentence = str(restore(lines).error)

    assert sentence.startswith(f"x.jsonl:{number + 1}: the column {name!r} of table {table!r} ")
    assert sentence.endswith("; nothing of the file was taken in; take another copy of it")
    assert not any(stored(story).values())


def test_an_archive_that_begins_with_its_end_is_none(restore: Restore, good: Lines) -> None:
    report = restore([good[-1]])

    assert str(report.error).startswith("x.jsonl:1: this is no archive of Talekeeper")


def test_every_table_has_a_row_to_be_changed(good: Lines) -> None:
    assert {line.get("table") for line in good[1:-1]} == set(TABLES)


@pytest.mark.parametrize(
    ("line", "changed", "sentence"),
    [
        (0, {"workspace": "half \ud800"}, "cannot name a workspace"),
        (0, {"half \ud800": 1}, "the first line has other keys"),
        (1, {"table": "half \ud800"}, "no row of a table"),
    ],
)
def test_half_a_surrogate_pair_in_an_archive_is_refused(
    restore: Restore, good: Lines, line: int, changed: dict[str, Any], sentence: str
) -> None:
    lines = [{**each} for each in good]
    lines[line] |= changed

    report = restore(lines)

    assert sentence in str(report.error)
