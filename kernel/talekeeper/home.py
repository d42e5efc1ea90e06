"""One home folder opened: the database, the index, the story, the leases and the plugins, put together once.

<home>/talekeeper.sqlite    everything kept
<home>/plugins/             plugins of this home, a folder each
<home>/leases/              files whose locks say who is at work
"""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from talekeeper.clock import Clock, SystemClock
from talekeeper.context import Imported, Services, import_lore
from talekeeper.db import Database, Leases
from talekeeper.errors import StoreError, StoreUnusable
from talekeeper.exchange import sweep_leftovers
from talekeeper.ids import SortableIds
from talekeeper.plugins import Host, Switches, switches
from talekeeper.search import Index
from talekeeper.story import Address, Story

FOLDER = "TALEKEEPER_HOME"
_DATABASE = "talekeeper.sqlite"
_log = logging.getLogger(__name__)


def default_folder() -> Path:
    """`TALEKEEPER_HOME`, else the folder this system has for a user's data."""
    named = os.environ.get(FOLDER)
    if named:
        return Path(named)
    from platformdirs import user_data_path  # noqa: PLC0415 - only where no folder is named

    return user_data_path("talekeeper", appauthor=False)


class Home:
    """Use it in a `with`: leaving it brings the index in order and closes the database."""

    def __init__(self, folder: Path, db: Database, clock: Clock, chosen: Switches) -> None:
        self.folder = folder
        self.db = db
        self.clock = clock
        self.index = Index()
        self.story = Story(db, self.index, clock, SortableIds(clock))
        self.leases = Leases(folder / "leases", db)
        self.host = Host(self.story, clock, folder=folder / "plugins", switches=chosen)
        self.services = Services(self.story, self.index, self.host, clock)

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
    ) -> Home:
        """Opens the home, making it when it is not there and `new` allows; raises `StoreUnusable` with the reason.

        `no_plugins` is None to load all that are enabled, empty for none, or the ids to leave out, with commas.
        """
        folder = (folder or default_folder()).expanduser().absolute()
        clock = clock or SystemClock()
        if new:
            _make(folder)
        _check(folder)
        chosen = switches(os.environ, without=no_plugins, folders=plugin_folders, paths=plugin_paths)
        home = cls(folder, Database.open(folder / _DATABASE, clock=clock, new=new), clock, chosen)
        try:
            sweep_leftovers(home.story, home.leases)
        except BaseException:
            home.db.close()
            raise
        return home

    def plugins_of_new_sessions(self, workspace: str) -> tuple[str, ...]:
        """The plugins a session made now is to have: all that are enabled there."""
        # Looking at the plugins is what enables the bundled ones in a new home.
        self.host.roster(workspace)
        return self.host.enabled(workspace)

    def import_lore(
        self,
        address: Address,
        file: Path,
        *,
        stream: BinaryIO | None = None,
        importer: str | None = None,
        replace: bool = False,
    ) -> Imported:
        """See `context.import_lore`."""
        return import_lore(self.services, address, file, stream=stream, importer=importer, replace=replace)

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
            self.db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            # Whatever went wrong is what people should read, not what it does to the tidying up.
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
    return StoreUnusable(what, where=str(folder), cure=f"{first}name another one with --home DIR or {FOLDER}")
