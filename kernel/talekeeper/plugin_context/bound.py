"""What one call of a plugin is bound to: the session, the place in it, who acts, and how long the call lives."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from talekeeper.api import Covers, TurnView
from talekeeper.db import Lease, Tx
from talekeeper.errors import Cancelled, ContextClosed, NotFound, ParameterError, PermissionDenied
from talekeeper.manifest import Namespace
from talekeeper.models import Cancel
from talekeeper.plugin_context.pending import Batch, Pending, Step, WrittenBy
from talekeeper.plugins import Plugin
from talekeeper.services import Services
from talekeeper.story import Address, Coordinate, Derived, Job, Record, Scope, Session, Story, is_owner, scope_of

_SLICE = 0.05  # seconds between looks at what may cancel the call
_log = logging.getLogger("talekeeper.plugins")


class Lifetime:
    """Shared by a context and its parts. A write holds it open: closing waits until the write is committed.

    It is the `Cancel` of every model call made through the context, and set once the call is over or `cancel` is. What
    models take is not the plugin's time: `away` counts it, and the guard adds it to the deadline.
    """

    def __init__(self, plugin: str, *, cancel: Cancel | None = None, now: Callable[[], float] = time.monotonic) -> None:
        self._plugin = plugin
        self._cancel = cancel
        self._now = now
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._counting = threading.Lock()
        self._away = 0.0
        self._asking = 0
        self._since = 0.0

    def check(self) -> None:
        """Raises `ContextClosed` once the call is over, `Cancelled` once it was cancelled."""
        if self._closed.is_set():
            raise ContextClosed(
                "its context was used after the call had ended or run out of time",
                where=self._plugin,
                cure="use ctx only inside the function it is given to",
                plugin=self._plugin,
            )
        if self._cancel is not None and self._cancel.is_set():
            raise Cancelled(f"a call of plugin {self._plugin} was cancelled")

    @contextmanager
    def held(self) -> Generator[None]:
        """Keeps the context open for the block."""
        with self._lock:
            self.check()
            yield

    def close(self) -> None:
        """Ends it for good."""
        with self._lock:
            self._closed.set()

    def is_set(self) -> bool:
        """Whether the call is over or cancelled, and with it whatever it waits for."""
        return self._closed.is_set() or (self._cancel is not None and self._cancel.is_set())

    def wait(self, timeout: float | None = None, /) -> bool:
        """Waits that many seconds or until set, and says which."""
        end = None if timeout is None else self._now() + timeout
        while not self.is_set():
            left = _SLICE if end is None else min(_SLICE, end - self._now())
            if left <= 0:
                return False
            self._closed.wait(left)
        return True

    @contextmanager
    def asking(self) -> Generator[None]:
        """Counts the block's time as `away`; where blocks of several threads overlap, once."""
        with self._counting:
            if not self._asking:
                self._since = self._now()
            self._asking += 1
        try:
            yield
        finally:
            with self._counting:
                self._asking -= 1
                if not self._asking:
                    self._away += self._now() - self._since

    def away(self) -> float:
        """Seconds the call has waited for models so far, a wait that goes on included."""
        with self._counting:
            return self._away + (self._now() - self._since if self._asking else 0.0)


@dataclass(frozen=True, slots=True)
class InTurn:
    """The turn a tool or segment is called in. `refused` is why it may not write, empty when it may.

    What it writes goes into `pending`, marked as `written_by` a segment or a tool.
    """

    view: TurnView
    pending: Pending
    written_by: WrittenBy
    refused: str = ""


@dataclass(frozen=True, slots=True)
class InJob:
    """The job a function is called for, caused by `turn`, and the lease under which it runs."""

    job: Job
    turn: int
    lease: Lease


@dataclass(frozen=True, slots=True)
class Bound:
    """`at` is where it reads and writes, the head when None; with `person` what it writes holds on every branch.

    With `turn` its writes wait for the turn's commit, and its reads see them. With `job` its writes are committed only
    while the job is this worker's.
    """

    services: Services
    plugin: Plugin
    session: Session
    life: Lifetime
    at: Coordinate | None = None
    person: bool = False
    turn: InTurn | None = None
    job: InJob | None = None

    @property
    def story(self) -> Story:
        """The home's."""
        return self.services.story

    @property
    def address(self) -> Address:
        """The session's."""
        return self.session.address

    def live(self) -> Bound:
        """Itself while the call lives; else raises `ContextClosed`, or `Cancelled`."""
        self.life.check()
        return self

    @property
    def turn_number(self) -> int:
        """The turn the call belongs to: its own, its job's, or the newest."""
        if self.turn is not None:
            return self.turn.view.number
        if self.job is not None:
            return self.job.turn
        newest = self.story.messages.read(self.address, last=1)
        return newest[-1].turn if newest else 0

    def own(self, name: str) -> Namespace:
        """A namespace to write; raises `PermissionDenied` for any but the plugin's declared ones."""
        for namespace in self.plugin.declared.data:
            if name in {namespace.name, namespace.path}:
                return namespace
        if "/" in name and not name.startswith(f"{self.plugin.id}/"):
            raise self._denied(f"it may not write {name}", "a plugin writes its own namespaces alone")
        bare = name.rpartition("/")[2]
        raise self._denied(f"it uses the namespace {bare!r}", f"declare [contributes.data.{bare}] in plugin.toml")

    def readable(self, name: str) -> Namespace:
        """A namespace to read: the plugin's own, or another's `plugin/namespace` that it declares to read."""
        if "/" not in name or name.startswith(f"{self.plugin.id}/"):
            return self.own(name)
        if name not in self.plugin.declared.permissions.get("read", ()):
            raise self._denied(f"it reads {name}", f'add "{name}" to read under [permissions] in plugin.toml')
        plugin_id, _, bare = name.partition("/")
        plugin = self.services.host.roster(session=self.session).by_id.get(plugin_id)
        found = [one for one in plugin.declared.data if one.name == bare] if plugin and plugin.works else []
        if not found:
            what = f"{name} is not there: plugin {plugin_id!r} does not work in this session or does not declare it"
            raise NotFound(what)
        hidden = found[0].search is not None and found[0].search.visibility == "owner"
        if hidden and not self.story.read(lambda tx: is_owner(tx, self.address)):
            raise self._denied(f"it reads {name}", "only the owner may see that")
        return found[0]

    def scope(self, namespace: Namespace) -> Scope:
        """Whose records of the namespace are meant; raises `NotFound` for a preset's in a session without one."""
        if namespace.scope == "preset" and not self.session.preset:
            raise NotFound(f"{namespace.path} belongs to a preset, and this session has none")
        return scope_of(namespace, self.session)

    def seen(self, namespace: Namespace, scope: Scope) -> tuple[Record, ...] | None:
        """Every live record of a namespace that this turn has written to, oldest first; else None."""
        return None if self.turn is None else self.turn.pending.seen(namespace, scope)

    def permit_model(self, slot: str) -> None:
        """Raises `PermissionDenied` for a slot that the manifest does not say it uses."""
        if slot not in self.plugin.declared.permissions.get("models", ()):
            raise self._denied(
                f"it asks the model {slot!r}", f'add "{slot}" to models under [permissions] in plugin.toml'
            )

    def derived(self, namespace: Namespace, covers: Covers) -> Derived | None:
        """What a record is made from; raises `ParameterError` for what it cannot be."""
        job = None if self.job is None else self.job.job
        if covers is None or (covers == "job" and (job is None or job.end < job.start or namespace.scope != "session")):
            return None
        if covers == "job":
            return None if job is None else Derived(job.start, job.end, job.id)
        if self.person:
            raise ParameterError("covers", "what a person writes follows no message", cure="leave it out in a command")
        if namespace.scope != "session":
            what = f"{namespace.path} is of a {namespace.scope}, and that has no messages"
            raise ParameterError("covers", what, cure="leave it out or give None")
        match covers:
            case (int() as first, int() as last) if 0 <= first <= last:
                pass
            case _:
                cure = 'give (first depth, last depth), "job" or None'
                raise ParameterError("covers", f"{covers!r} is no range", cure=cure)
        if job is not None and last > job.end:
            what = f"depth {last} is not on the job's lineage, which ends at depth {job.end}"
            raise ParameterError("covers", what, cure="cover what job.messages() and job.uncovered() give")
        return Derived(first, last, "" if job is None else job.id)

    def check_writing(self) -> None:
        """Raises `PermissionDenied` for a tool that does not declare that it writes."""
        if self.turn is not None and self.turn.refused:
            raise self._denied(self.turn.refused, 'give the tool effects = "write" in plugin.toml')

    def write(self, steps: Sequence[Step]) -> None:
        """Applies a batch, in one transaction, or holds it for the turn's commit."""
        if self.turn is not None:
            self.turn.pending.take(Batch(self.plugin.id, self.turn.written_by, tuple(steps)))
            return

        def run(tx: Tx) -> None:
            if self.job is not None:
                self.story.jobs.check(self.address, self.job.job.id, self.job.lease, tx)
            for step in steps:
                step.run(tx=tx, at=self.at)

        self.story.write(run, name=f"a batch of {self.plugin.id}")

    def _denied(self, what: str, cure: str) -> PermissionDenied:
        denied = PermissionDenied(what, where=self.plugin.id, cure=cure, plugin=self.plugin.id)
        # Reported even where the plugin swallows the error.
        _log.warning("denied: %s", denied)
        self.services.report("denied", self.address, plugin=self.plugin.id, what=what)
        return denied
