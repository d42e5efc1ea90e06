"""One home folder opened: the database, the index, the story, the leases and the plugins, put together once.

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
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Self

from talekeeper.clock import Clock, SystemClock
from talekeeper.db import Database, Leases
from talekeeper.embedding import Encoder, Semantics, open_encoder
from talekeeper.errors import ParameterError, StoreError, StoreUnusable
from talekeeper.exchange import sweep_leftovers
from talekeeper.ids import SortableIds
from talekeeper.models import EMBEDDING, NO_MODELS, Models, ModelsWhenAsked, Redactor, open_models
from talekeeper.plugin_context import Imported, import_lore
from talekeeper.plugins import Host, Providers, Switches, read_switches
from talekeeper.search import Index
from talekeeper.services import Services
from talekeeper.story import Address, Session, Story
from talekeeper.trace import Trace, forget_events

if TYPE_CHECKING:
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


def _index(megabytes: str) -> Index:
    if not megabytes:
        return Index()
    if not (megabytes.isascii() and megabytes.isdigit() and len(megabytes) <= _DIGITS):
        cure = "give a whole number of megabytes, such as 512, or unset it"
        raise ParameterError(_POSTINGS_VARIABLE, f"{megabytes!r} is no size", cure=cure)
    return Index(posting_budget=int(megabytes) << 20)


def database_of(folder: Path | None = None) -> Path:
    """The file in which a home, or the usual one, keeps everything."""
    return _absolute(folder) / _DATABASE


def _absolute(folder: Path | None) -> Path:
    return (folder or default_folder()).expanduser().absolute()


class Home:
    """Use it in a `with`: leaving it brings the index in order and closes the database."""

    def __init__(
        self,
        folder: Path,
        db: Database,
        clock: Clock,
        chosen: Switches,
        index: Index | None = None,
        *,
        tracing: bool = True,
        capture: bool = False,
    ) -> None:
        self.folder = folder
        self.db = db
        self.clock = clock
        self._keys: Redactor | None = None
        self.trace = Trace(folder / TRACES, clock=clock, capture=capture, mask=self._masked) if tracing else None
        self.index = index or Index()
        self.story = Story(db, self.index, clock, SortableIds(clock))
        self.leases = Leases(folder / "leases", db)
        self.host = Host(self.story, clock, folder=folder / "plugins", switches=chosen, trace=self.trace)
        models = ModelsWhenAsked(lambda: self.models)
        self.providers = Providers()
        self.semantics = Semantics(self.story, self._encoder)
        self.services = Services(self.story, self.index, self.host, clock, models, self.trace, self.semantics)
        self._models: Models | None = None

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
        """Opens the home, making it when it is not there and `new` allows; raises `StoreUnusable` with the reason.

        `no_plugins` is None to load all that are enabled, empty for none, or the ids to leave out, with commas. Events
        are written unless `tracing` is off or `TALEKEEPER_TRACE` is 0; when that is `bodies`, with all that models were
        sent and gave. `TALEKEEPER_POSTINGS_MB` is what the index may keep of postings in memory; raises
        `ParameterError` where that is no whole number of megabytes.
        """
        folder = _absolute(folder)
        clock = clock or SystemClock()
        index = _index(os.environ.get(_POSTINGS_VARIABLE, ""))
        if new:
            _make(folder)
        _check(folder)
        chosen = read_switches(os.environ, without=no_plugins, folders=plugin_folders, paths=plugin_paths)
        said = os.environ.get(_TRACE_VARIABLE)
        tracing, capture = tracing and said != "0", said == "bodies"
        db = Database.open(database_of(folder), clock=clock, new=new)
        home = cls(folder, db, clock, chosen, index, tracing=tracing, capture=capture)
        try:
            sweep_leftovers(home.story, home.leases)
        except (StoreError, sqlite3.Error, OSError) as fault:
            _log.warning("what an interrupted import left was not taken away: %s", fault)
        except BaseException:
            home.db.close()
            raise
        return home

    def plugins_of_new_sessions(self, workspace: str, preset: str = "") -> tuple[str, ...]:
        """The plugins a session made now is to have: those its preset names, else all that are enabled there.

        Raises `NotFound` for a preset that is not there, or names a plugin that is not.
        """
        # Looking at the plugins is what enables the bundled ones in a new home.
        self.host.roster(workspace)
        if preset:
            from talekeeper.turn import read_preset  # noqa: PLC0415 - most commands know no preset

            named = read_preset(self.folder, workspace, preset).plugins
            if named is not None:
                return tuple(sorted({self.host.plugin(name).id for name in named}))
        return self.host.enabled(workspace)

    # Models and turns

    @property
    def models(self) -> Models:
        """The models this home has; raises `InputError` for a mistake in its configuration."""
        if self._models is None:
            self._models = open_models(self.folder, remembered=self._remembered())
            self._keys = self._models.redactor()
        return self._models

    def _encoder(self) -> Encoder | None:
        models = self.models
        if models.provided is None and models.slot(EMBEDDING) is None:
            return None
        return open_encoder(models, self.host, self.providers, self.clock)

    def remember_server(self, url: str) -> None:
        """Uses a model server on this machine from now on, where nothing is configured; a person was told of it."""
        (self.folder / _SERVER).write_text(f"{url}\n", encoding="utf-8")
        self._models = None

    def use_no_model(self) -> None:
        """Asks no model while this home is open, whatever is configured."""
        self.use_models(NO_MODELS)

    def use_models(self, models: Models) -> None:
        """Asks these while this home is open, whatever is configured; to be said before the first is asked."""
        self._models = models

    def narrator(self) -> Narrator:
        """Tells turns; to be kept while the home is open."""
        from talekeeper.turn import Narrator  # noqa: PLC0415 - most commands tell no turn

        return Narrator(self.services, self.models, self.leases, self.trace, presets=self.preset_of)

    def jobs(self) -> JobRunner:
        """Runs what turns have left to do."""
        from talekeeper.turn import JobRunner  # noqa: PLC0415 - as above

        return JobRunner(self.services, self.models, self.leases, self.trace)

    def preset_of(self, session: Session) -> Preset:
        """The preset a session has; raises `NotFound`, or `InputError` naming file and key."""
        from talekeeper.turn import read_preset  # noqa: PLC0415 - as above

        return read_preset(self.folder, session.workspace, session.preset)

    def _masked(self, text: str) -> str:
        # No key has been anywhere before the models were opened.
        return text if self._keys is None else self._keys.mask(text)

    def _remembered(self) -> str:
        file = self.folder / _SERVER
        try:
            # What is no file, such as a pipe that nobody writes into, is not opened.
            return file.read_text(encoding="utf-8").strip() if file.is_file() else ""
        except (OSError, UnicodeError):
            return ""

    def delete_session(self, address: Address) -> None:
        """Deletes a session and its events for good; see `story.Story.delete_session`."""
        self.story.sessions.delete(address)
        self._forget_events(address)

    def delete_workspace(self, workspace: str) -> None:
        """Deletes a workspace with its sessions and their events for good."""
        sessions = self.story.sessions.all(workspace)
        self.story.workspaces.delete(workspace)
        self._forget_events(*(session.address for session in sessions))

    def _forget_events(self, *addresses: Address) -> None:
        if self.trace is not None:
            self.trace.flush()
        try:
            for address in addresses:
                forget_events(self.folder / TRACES, address.workspace, address.session)
        except StoreUnusable as fault:
            what = f"what was to be deleted is, and only its events are not: {fault.what}"
            raise StoreUnusable(what, where=fault.where, cure=fault.cure) from fault

    def import_lore(
        self,
        address: Address,
        file: Path,
        *,
        stream: BinaryIO | None = None,
        importer: str | None = None,
        replace: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> Imported:
        """See `context.import_lore`."""
        return import_lore(
            self.services, address, file, stream=stream, importer=importer, replace=replace, progress=progress
        )

    def close(self) -> None:
        """Brings the index in order, takes forgotten words out of every file, and closes.

        What was done with the home stands whatever becomes of the tidying up: a full disk or a damaged index is warned
        of and raises nothing.
        """
        try:
            self.story.settle()
        except (StoreError, sqlite3.Error, OSError) as fault:
            _log.warning("nothing is lost, but the home was not tidied up before it was closed: %s", fault)
        finally:
            self._let_go()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            # Whatever went wrong is what people should read, not what it does to the tidying up.
            self._let_go()

    def _let_go(self) -> None:
        if self.trace is not None:
            self.trace.close()
            if self.trace.fault:
                _log.warning("%s: events were not written (%s); --no-trace does without", TRACES, self.trace.fault)
        self.db.close()


def _make(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        return  # something else lies there, which _check tells
    except OSError as fault:
        raise _unusable(folder, f"the home folder cannot be made ({fault.strerror})") from fault


def _check(folder: Path) -> None:
    """Refuses a folder in which no database can be used; one that is not there is for the database to name."""
    try:
        there, is_folder = os.path.lexists(folder), folder.is_dir()
    except OSError as fault:
        raise _unusable(folder, f"the home folder cannot be looked at ({fault.strerror})") from fault
    if there and not is_folder:
        raise _unusable(folder, "the home is not a folder, and something else has its name")
    if is_folder and not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise _unusable(folder, "the home folder may not be read and written by this user", "make it so, or ")


def _unusable(folder: Path, what: str, first: str = "") -> StoreUnusable:
    return StoreUnusable(what, where=str(folder), cure=f"{first}name another one with --home DIR or {_HOME_VARIABLE}")
