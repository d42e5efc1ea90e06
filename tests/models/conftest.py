"""Slots that point at a scripted server, clients that do not really wait, and the usual question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from talekeeper.clock import FixedClock
from talekeeper.models import ChatMessage, Request, Slot, TimeLimits
from talekeeper.models.client import Client
from talekeeper.models.http import Means
from talekeeper.models.urls import BaseUrl
from talekeeper.testing import ScriptedServer

# Long enough for a busy machine; a test of a time limit sets its own.
LIMITS = TimeLimits(connect=20.0, first=20.0, between=20.0, total=60.0)


MakeClient = Callable[..., Client]


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(datetime(2026, 1, 1, tzinfo=UTC))


@pytest.fixture
def waits() -> list[float]:
    """The seconds a client has waited before asking again, in its own account; it went on at once."""
    return []


@pytest.fixture
def make_client(clock: FixedClock, waits: list[float]) -> MakeClient:
    """`make_client(server, key=…, …)`: a client of a slot at the server; keywords are the slot's fields."""

    quick = Means(wait=lambda seconds, _: waits.append(seconds), chance=lambda: 1.0)

    def make(server: ScriptedServer | BaseUrl, *, means: Means | None = None, **fields: Any) -> Client:
        url = server if isinstance(server, BaseUrl) else BaseUrl("http", "127.0.0.1", server.port, "/v1")
        slot = replace(Slot("narrator", url, model="m", network="loopback", limits=LIMITS), **fields)
        return Client(slot, clock=clock, means=means or quick)

    return make


@pytest.fixture
def question() -> Request:
    return Request([ChatMessage("system", "You narrate."), ChatMessage("user", "I open the door.")])
