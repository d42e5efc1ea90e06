"""Events: what happened and when, in `<home>/traces.sqlite`, apart from the store and never waited for."""

from __future__ import annotations

from talekeeper.trace.file import Event, forget_events, read_events
from talekeeper.trace.sink import DROPPED, Trace

__all__ = ["DROPPED", "Event", "Trace", "forget_events", "read_events"]
