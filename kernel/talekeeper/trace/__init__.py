"""Events: what happened and when, in `<home>/traces.sqlite`, apart from the store and never waited for."""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.trace.file import DROPPED, Event, count_events, forget_events, read_events
    from talekeeper.trace.sink import Trace
else:
    __getattr__ = lazy_face(__name__)

__all__ = ["DROPPED", "Event", "Trace", "count_events", "forget_events", "read_events"]
