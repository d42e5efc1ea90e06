from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from talekeeper.errors import ImportFileError, LimitReached, NotFound, PluginError, UserError
from talekeeper.plugin_context import Imported, importers_for, run_importer
from talekeeper.services import Services
from talekeeper.story import Address, Scope, Session

Plug = Callable[..., None]
Start = Callable[..., Session]

S = Address("w", "s")
IMPORTER = """
    [[contributes.importers]]
    id = "lines"
    match = ["*.txt", "Note?.md"]
"""
LINES = """
    import threading
    from talekeeper.api import PluginError, Record, UserError, hookimpl

    def read(ctx, file, report):
        for number, raw in enumerate(file, start=1):
            line = raw.decode().strip()
            if not line:
                report.skipped(f"line {number}", "it is empty")
            elif line == "refuse":
                raise UserError("this is no file of lines")
            elif line == "break":
                1 / 0
            elif line == "hang":
                threading.Event().wait()
            elif line == "rubbish":
                yield line
            elif line == "elsewhere":
                yield Record("others", "k", {"body": "x"})
            elif line == "misfit":
                yield Record("entries", "misfit", {"text": "x"})
            elif line == "badkey":
                yield Record("entries", " ", {"body": "x"})
            elif line == "object":
                yield Record("entries", "object", {"body": threading.Event()})
            else:
                key, _, body = line.partition("=")
                yield Record("entries", key, {"body": body})

    @hookimpl
    def talekeeper_register(registry):
        registry.importer("lines", read)
"""


@pytest.fixture
def read(services: Services, plug: Plug, start: Start, tmp_path: Path) -> Callable[..., Imported]:
    """Imports lines of text with plugin `lore` into session `s`."""

    def run(*lines: str, data: str = "", **options: Any) -> Imported:
        plug("lore", LINES, data=data, more=IMPORTER)
        if not services.story.workspaces.all():
            start()
        (tmp_path / "file.txt").write_text("\n".join(lines), encoding="utf-8")
        try:
            return run_importer(services, S, "lore/lines", tmp_path / "file.txt", **options)
        finally:
            services.host.disable("lore")

    return run


def _entries(services: Services) -> dict[str, str]:
    found = services.story.records.list(services.host.namespace("lore/entries"), Scope("w", "s"), limit=1000)
    return {record.key: record.value["body"] for record in found}


def test_records_are_written_for_good_on_every_branch(read: Callable[..., Imported], services: Services) -> None:
    report = read("a=one", "", "b=two")

    assert _entries(services) == {"a": "one", "b": "two"}
    assert report.added == ["entries/a", "entries/b"]
    assert report.left_out == [("line 2", "it is empty")]
    record = services.story.records.get(services.host.namespace("lore/entries"), Scope("w", "s"), "a")
    assert record is not None
    assert record.person


def test_the_same_file_again_writes_nothing(read: Callable[..., Imported], services: Services) -> None:
    lines = [f"k{number}=text {number}" for number in range(120)]
    read(*lines)

    again = read(*lines)

    assert len(again.unchanged) == 120
    assert again.added == again.replaced == again.kept == []
    assert len(services.story.records.history(services.host.namespace("lore/entries"), Scope("w", "s"), "k0")) == 1


def test_what_differs_is_kept_unless_replacing_is_asked_for(read: Callable[..., Imported], services: Services) -> None:
    read("a=one")

    kept = read("a=two")
    before = _entries(services)
    replaced = read("a=two", replace=True)

    assert (kept.kept, before) == (["entries/a"], {"a": "one"})
    assert (replaced.replaced, _entries(services)) == (["entries/a"], {"a": "two"})


@pytest.mark.parametrize(
    ("act", "replace", "gone"),
    [("withdraw", False, True), ("withdraw", True, False), ("forget", False, True), ("forget", True, True)],
)
def test_what_was_taken_out_does_not_come_back_by_itself(
    read: Callable[..., Imported], services: Services, act: str, replace: bool, gone: bool
) -> None:
    read("a=one")
    namespace, scope = services.host.namespace("lore/entries"), Scope("w", "s")
    if act == "withdraw":
        services.story.records.withdraw(namespace, scope, "a", person=True)
    else:
        services.story.records.forget(namespace, scope, "a")

    report = read("a=one", replace=replace)

    assert report.gone == (["entries/a"] if gone else [])
    assert _entries(services) == ({} if gone else {"a": "one"})


def test_in_an_append_only_namespace_nothing_is_replaced(read: Callable[..., Imported], services: Services) -> None:
    read("a=one", data="append-only = true")

    report = read("a=two", "b=two", data="append-only = true", replace=True)

    assert (report.kept, report.added) == (["entries/a"], ["entries/b"])
    assert _entries(services) == {"a": "one", "b": "two"}


@pytest.mark.parametrize(
    ("line", "what", "why"), [("misfit", "entries/misfit", "'body' is missing"), ("badkey", "entries/ ", "key: ")]
)
def test_a_record_that_misfits_is_left_out_with_the_reason(
    read: Callable[..., Imported], services: Services, line: str, what: str, why: str
) -> None:
    report = read("a=one", line, "b=two")

    assert _entries(services) == {"a": "one", "b": "two"}
    ((left_out, reason),) = report.left_out
    assert left_out == what
    assert why in reason


@pytest.mark.parametrize(
    ("line", "error", "told"),
    [
        ("break", PluginError, "importer lines raised ZeroDivisionError"),
        ("rubbish", PluginError, "it yields str, where a Record is expected"),
        ("elsewhere", PluginError, "uses the namespace 'others'"),
        ("object", PluginError, "/body is Event, which JSON does not have"),
        ("refuse", UserError, "this is no file of lines"),
    ],
)
def test_what_was_read_before_a_fault_stays_and_the_rest_comes_with_the_next_run(
    read: Callable[..., Imported], services: Services, line: str, error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        read("a=one", "b=two", line, "c=three")

    before = _entries(services)
    rest = read("a=one", "b=two", "c=three")

    assert before == {"a": "one", "b": "two"}
    assert (len(rest.unchanged), rest.added) == (2, ["entries/c"])


def test_a_step_that_never_ends_is_given_up(services: Services, read: Callable[..., Imported]) -> None:
    slow = services.host.guard.deadlines
    services.host.guard.deadlines = type(slow)(load=30, importer=0.3)

    with pytest.raises(PluginError, match=r"importer lines took longer than its 0.3 s"):
        read("a=one", "hang")

    assert _entries(services) == {"a": "one"}


def test_a_full_namespace_stops_the_import_and_keeps_what_fitted(
    read: Callable[..., Imported], services: Services
) -> None:
    with pytest.raises(LimitReached, match="lore/entries: it holds 2 records"):
        read("a=1", "b=2", "c=3", data="limit = 2")

    assert _entries(services) == {"a": "1", "b": "2"}


def test_progress_is_told_batch_by_batch(read: Callable[..., Imported]) -> None:
    told: list[int] = []

    read(*[f"k{number}=x" for number in range(120)], progress=told.append)

    assert told == [50, 100]


@pytest.mark.parametrize("kind", ["missing", "folder"])
def test_a_file_that_cannot_be_read_is_named(
    services: Services, plug: Plug, start: Start, tmp_path: Path, kind: str
) -> None:
    plug("lore", LINES, more=IMPORTER)
    start()
    path = tmp_path / "gone.txt" if kind == "missing" else tmp_path

    with pytest.raises(ImportFileError, match=str(path)):
        run_importer(services, S, "lore/lines", path)

    services.host.disable("lore")


@pytest.mark.parametrize(
    ("name", "found"),
    [("lore.txt", ["lore/lines"]), ("LORE.TXT", ["lore/lines"]), ("note1.md", ["lore/lines"]), ("lore.json", [])],
)
def test_importers_are_found_by_file_name(
    services: Services, plug: Plug, start: Start, name: str, found: list[str]
) -> None:
    plug("lore", "raise AssertionError('imported')", more=IMPORTER)
    start()

    assert importers_for(services, S, name) == found


def test_an_unknown_importer_is_told_with_those_there_are(services: Services, plug: Plug, start: Start) -> None:
    plug("lore", LINES, more=IMPORTER)
    start()

    with pytest.raises(NotFound, match="no importer 'liens'; it has lore/lines"):
        run_importer(services, S, "lore/liens", Path("x.txt"))


def test_the_threads_of_an_import_end_with_it(read: Callable[..., Imported]) -> None:
    before = set(threading.enumerate())

    read(*[f"k{number}=x" for number in range(200)])

    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive()
