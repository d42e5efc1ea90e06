"""One home folder opened: the database, and what works on it, each part loaded when a command first uses it.

<home>/talekeeper.sqlite    everything kept
<home>/plugins/             plugins of this home, a folder each
<home>/leases/              files whose locks say who is at work
<home>/presets/             presets of every workspace; those of one lie under workspaces/<name>/presets/
<home>/traces.sqlite        events, apart from what is kept; may be deleted at any time
<home>/local-server         the URL of a model server on this machine that a person was told of
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from talekeeper.clock import Clock, SystemClock
from talekeeper.db import Database, Leases
from talekeeper.errors import ParameterError, StoreError, StoreUnusable
from talekeeper.ids import SortableIds
from talekeeper.story import Address, Session, Story

if TYPE_CHECKING:
    from talekeeper.embedding import EmbeddingProvider, Encoder, Semantics
    from talekeeper.models import Models, Redactor
    from talekeeper.plugins import Host
    from talekeeper.search import Index
    from talekeeper.services import Services
    from talekeeper.trace import Trace
    from talekeeper.turn import JobRunner, Narrator, Preset

_HOME_VARIABLE = "TALEKEEPER_HOME"
_DATABASE = "talekeeper.sqlite"
_TRACE_VARIABLE = "TALEKEEPER_TRACE"
_POSTINGS_VARIABLE = "TALEKEEPER_POSTINGS_MB"
TRACES = "traces.sqlite"
_SERVER = "local-server"
_DIGITS = 6  # a terabyte
_log = logging.getLogger(__name__)


def default_folder() -> Path:
    """`TALEKEEPER_HOME`, else the folder this system has for a user's data."""
    named = os.environ.get(_HOME_VARIABLE)
    if named:
        return Path(named)
    from platformdirs import user_data_path  # noqa: PLC0415 - only where no folder is named

    return user_data_path("talekeeper", appauthor=False)


def database_of(folder: Path | None = None) -> Path:
    """The database file of a home, or of the default one."""
    return _absolute(folder) / _DATABASE


@dataclass(eq=False)
class Home:
    """Use it in a `with`: leaving it tidies the index up and closes the database."""

    folder: Path
    db: Database
    clock: Clock
    _: KW_ONLY
    plugin_folders: tuple[Path, ...]
    plugin_paths: tuple[Path, ...]
    no_plugins: str | None
    posting_budget: int | None
    tracing: bool

    def __post_init__(self) -> None:
        self.leases = Leases(self.folder / "leases", self.db)
        self.story = Story(self.db, lambda: self.index, self.clock, SortableIds(self.clock))
        self._models: Models | None = None
        self._keys: Redactor | None = None
        self.providers: dict[str, EmbeddingProvider] = {}
        """What embeds in this process without being a plugin's, by the name that a configuration gives."""

    @classmethod
    def open(
        cls,
        folder: Path | None = None,
        *,
        clock: Clock | None = None,
        plugin_folders: Iterable[Path] = (),
        plugin_paths: Iterable[Path] = (),
        no_plugins: str | None = None,
        new: bool = True,
        tracing: bool = True,
    ) -> Home:
        """Opens the home, and makes it when it is missing and `new` allows; raises `StoreUnusable` with the reason.

        `no_plugins` is None to load all that are enabled, empty for none, or the ids to leave out, with commas. Events
        are written unless `tracing` is off or `TALEKEEPER_TRACE` is 0; when that is `bodies`, they include everything
        that models were sent and answered. `TALEKEEPER_POSTINGS_MB` bounds the postings that the index keeps in memory;
        raises `ParameterError` unless it is a whole number of megabytes.
        """
        folder = _absolute(folder)
        clock = clock or SystemClock()
        budget = _posting_budget(os.environ.get(_POSTINGS_VARIABLE, ""))
        if new:
            _make(folder)
        _check(folder)
        home = cls(
            folder,
            Database.open(database_of(folder), clock=clock, new=new),
            clock,
            plugin_folders=tuple(plugin_folders),
            plugin_paths=tuple(plugin_paths),
            no_plugins=no_plugins,
            posting_budget=budget,
            tracing=tracing,
        )
        try:
            home._sweep_leftovers()
        except (StoreError, sqlite3.Error, OSError) as fault:
            _log.warning("what an interrupted import left behind could not be deleted: %s", fault)
        except BaseException:
            home.db.close()
            raise
        return home

    # Parts, each made when it is first used: a listing needs the store alone.

    @cached_property
    def trace(self) -> Trace | None:
        """Where events go; None when they are not written."""
        wanted = os.environ.get(_TRACE_VARIABLE)
        if not self.tracing or wanted == "0":
            return None
        from talekeeper.trace import Trace  # noqa: PLC0415 - most commands report nothing

        return Trace(self.folder / TRACES, clock=self.clock, capture=wanted == "bodies", mask=self._masked)

    @cached_property
    def index(self) -> Index:
        """What finds passages."""
        from talekeeper.search import Index  # noqa: PLC0415 - brings numpy

        return Index() if self.posting_budget is None else Index(posting_budget=self.posting_budget)

    @cached_property
    def host(self) -> Host:
        """The plugins of this home."""
        from talekeeper.plugins import Host, read_overrides  # noqa: PLC0415 - a listing looks at no plugin

        overrides = read_overrides(
            os.environ, without=self.no_plugins, folders=self.plugin_folders, paths=self.plugin_paths
        )
        return Host(self.story, self.clock, folder=self.folder / "plugins", overrides=overrides, trace=self.trace)

    @cached_property
    def semantics(self) -> Semantics:
        """Search by meaning."""
        from talekeeper.embedding import Semantics  # noqa: PLC0415 - a listing embeds nothing

        return Semantics(self.story, self._encoder)

    @cached_property
    def services(self) -> Services:
        """What searches, plugin calls and turns work with."""
        from talekeeper.models import LazyModels  # noqa: PLC0415 - a listing asks no model
        from talekeeper.services import Services  # noqa: PLC0415 - as above

        models = LazyModels(lambda: self.models)
        return Services(self.story, self.index, self.host, self.clock, models, self.trace, self.semantics)

    @property
    def models(self) -> Models:
        """The models this home has; raises `InputError` for a mistake in its configuration."""
        if self._models is None:
            from talekeeper.models import open_models  # noqa: PLC0415 - as above

            self._models = open_models(self.folder, remembered=self._remembered())
            self._keys = self._models.redactor()
        return self._models

    def _encoder(self) -> Encoder | None:
        from talekeeper.models import FILE_NAME  # noqa: PLC0415 - as above

        if self._models is None and not (self.folder / FILE_NAME).exists():
            return None
        from talekeeper.embedding import open_encoder  # noqa: PLC0415 - as above
        from talekeeper.models import EMBEDDING  # noqa: PLC0415 - as above

        models = self.models
        if models.provided is None and models.slot(EMBEDDING) is None:
            return None
        return open_encoder(models, self.host, self.clock, self.providers)

    # Models and turns

    def remember_server(self, url: str) -> None:
        """Uses a model server on this machine from now on, where nothing is configured; a person was told of it."""
        (self.folder / _SERVER).write_text(f"{url}\n", encoding="utf-8")
        self._models = None

    def use_models(self, models: Models) -> None:
        """Asks these while this home is open, whatever is configured; to be called before the first is asked."""
        self._models = models

    def narrator(self) -> Narrator:
        """Tells turns; to be kept while the home is open."""
        from talekeeper.turn import Narrator  # noqa: PLC0415 - most commands tell no turn

        return Narrator(self.services, self.models, self.leases, presets=self.preset_of)

    def jobs(self) -> JobRunner:
        """Runs what turns have left to do."""
        from talekeeper.turn import JobRunner  # noqa: PLC0415 - as above

        return JobRunner(self.services, self.models, self.leases)

    def preset_of(self, session: Session) -> Preset:
        """The preset of a session; raises `NotFound`, or `InputError` naming file and key."""
        from talekeeper.turn import read_preset  # noqa: PLC0415 - as above

        return read_preset(self.folder, session.workspace, session.preset)

    def plugins_of_new_sessions(self, workspace: str, preset: str = "") -> tuple[str, ...]:
        """The plugins that a new session gets: those its preset names, else all that are enabled there.

        Raises `NotFound` for a preset that is missing, or names a plugin that is.
        """
        # Looking at the plugins is what enables the bundled ones in a new home.
        self.host.roster(workspace)
        if preset:
            from talekeeper.turn import read_preset  # noqa: PLC0415 - as above

            named = read_preset(self.folder, workspace, preset).plugins
            if named is not None:
                return tuple(sorted({self.host.plugin(name).id for name in named}))
        return self.host.enabled(workspace)

    def _masked(self, text: str) -> str:
        # No key has been anywhere before the models were opened.
        return text if self._keys is None else self._keys.mask(text)

    def _remembered(self) -> str:
        file = self.folder / _SERVER
        try:
            # Only a file is opened: a pipe that nobody writes into would be waited for.
            return file.read_text(encoding="utf-8").strip() if file.is_file() else ""
        except (OSError, UnicodeError):
            return ""

    # Deleting

    def delete_session(self, address: Address) -> None:
        """Deletes a session and its events for good; see `Sessions.delete`."""
        self.story.sessions.delete(address)
        self._forget_events(address)

    def delete_workspace(self, workspace: str) -> None:
        """Deletes a workspace with its sessions and their events for good."""
        sessions = self.story.sessions.all(workspace)
        self.story.workspaces.delete(workspace)
        self._forget_events(*(session.address for session in sessions))

    def _forget_events(self, *addresses: Address) -> None:
        from talekeeper.trace import forget_events  # noqa: PLC0415 - only who deletes needs it

        if self.trace is not None:
            self.trace.flush()
        try:
            for address in addresses:
                forget_events(self.folder / TRACES, address.workspace, address.session)
        except StoreUnusable as fault:
            what = f"everything is deleted except its events: {fault.what}"
            raise StoreUnusable(what, where=fault.where, cure=fault.cure) from fault

    # Opening and closing

    def _sweep_leftovers(self) -> None:
        if self.story.workspaces.unfinished():
            from talekeeper.exchange import sweep_leftovers  # noqa: PLC0415 - hardly any import is killed

            sweep_leftovers(self.story, self.leases)

    def close(self) -> None:
        """Tidies the index up, takes forgotten words out of every file, and closes.

        Everything done with the home is kept even if the tidying up fails: a full disk or a damaged index is only
        warned of.
        """
        try:
            self.story.settle(searched="index" in vars(self))
        except (StoreError, sqlite3.Error, OSError) as fault:
            _log.warning("nothing is lost, but the home was not tidied up before it was closed: %s", fault)
        finally:
            self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self.close()
        else:
            # A person should read what went wrong, and not what that does to the tidying up.
            self._release()

    def _release(self) -> None:
        trace: Trace | None = self.__dict__.get("trace")
        if trace is not None:
            trace.close()
            if trace.fault:
                _log.warning("%s: events were not written (%s); --no-trace does without", TRACES, trace.fault)
        self.db.close()


def _absolute(folder: Path | None) -> Path:
    return (folder or default_folder()).expanduser().absolute()


def _posting_budget(megabytes: str) -> int | None:
    """In bytes; None where nothing is said."""
    if not megabytes:
        return None
    if not (megabytes.isascii() and megabytes.isdigit() and len(megabytes) <= _DIGITS):
        cure = "give a whole number of megabytes, such as 512, or unset it"
        raise ParameterError(_POSTINGS_VARIABLE, f"{megabytes!r} is not a size", cure=cure)
    return int(megabytes) << 20


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        return  # _check says what lies there
    except OSError as fault:
        raise _unusable(folder, f"the home folder cannot be made ({fault.strerror})") from fault


def _check(folder: Path) -> None:
    """Refuses a folder in which no database can be used; a missing one is for the database to name."""
    try:
        there, is_folder = os.path.lexists(folder), folder.is_dir()
    except OSError as fault:
        raise _unusable(folder, f"the home folder cannot be looked at ({fault.strerror})") from fault
    if there and not is_folder:
        raise _unusable(folder, "the home is not a folder: something else has its name")
    if is_folder and not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise _unusable(folder, "this user may not read and write the home folder", "change its permissions, or ")


def _unusable(folder: Path, what: str, first: str = "") -> StoreUnusable:
    return StoreUnusable(what, where=str(folder), cure=f"{first}name another one with --home DIR or {_HOME_VARIABLE}")
