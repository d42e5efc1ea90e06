"""Events: what happened and when, in `<home>/traces.sqlite`, apart from the store and never waited for."""

from __future__ import annotations

from talekeeper.trace.file import DROPPED, Event, count_events, forget_events, read_events
from talekeeper.trace.sink import Trace

__all__ = ["DROPPED", "Event", "Trace", "count_events", "forget_events", "read_events"]
