"""What a denial leaves behind: an event in the session it happened in, without what it was about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from talekeeper.clock import FixedClock
from talekeeper.memory_search import read_question, search_memory
from talekeeper.plugin_context import run_command
from talekeeper.services import Services
from talekeeper.story import Address
from talekeeper.trace import Event, Trace, read_events

S = Address("w", "s")
CODE = """
from talekeeper.api import hookimpl

@hookimpl
def talekeeper_register(registry):
    registry.command("do", do)

def do(ctx, arguments):
    try:
        ctx.data["memory/facts"]
    except Exception:
        return "swallowed"
"""


@pytest.fixture
def traced(services: Services, tmp_path: Path) -> Iterator[Services]:
    """The same services, with traces."""
    trace = Trace(tmp_path / "traces.sqlite", clock=FixedClock(datetime(2026, 3, 1, tzinfo=UTC)))
    yield replace(services, trace=trace)
    trace.close()


@pytest.fixture
def denials(traced: Services, tmp_path: Path) -> Callable[[], list[Event]]:
    def read() -> list[Event]:
        assert traced.trace is not None
        traced.trace.flush()
        return read_events(tmp_path / "traces.sqlite", kind="denied")

    return read


def test_an_undeclared_use_is_traced_even_where_the_plugin_swallows_it(
    traced: Services, plug: Callable[..., None], start: Callable[..., Any], denials: Callable[[], list[Event]]
) -> None:
    plug("bad", CODE, more='[[contributes.commands]]\nid = "do"')
    start()

    run_command(traced, S, "bad/do", {})

    (event,) = denials()
    assert (event.workspace, event.session) == ("w", "s")
    assert event.facts == {"plugin": "bad", "what": "it reads memory/facts"}


@pytest.mark.parametrize(("channel", "told"), [("local", []), ("discord", ["diary/entries is for the owner alone"])])
def test_what_is_withheld_from_anybody_but_the_owner_is_traced(
    traced: Services,
    plug: Callable[..., None],
    start: Callable[..., Any],
    denials: Callable[[], list[Event]],
    channel: str,
    told: list[str],
) -> None:
    plug("diary", data='search = { text = "body", visibility = "owner" }')
    start(channel=channel)

    search_memory(traced, S, read_question({"query": "key"})).as_json()

    assert [event.facts["what"] for event in denials()] == told
