"""A home in a real file with a runner over it, plugins of real folders, and a short way to tell a turn."""

from __future__ import annotations

import json
import shutil
import textwrap
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from talekeeper.clock import FixedClock
from talekeeper.db import Database, Leases, Tx
from talekeeper.ids import SortableIds
from talekeeper.models import NO_MODELS, BaseUrl, Models, Slot
from talekeeper.plugins import Deadlines, Host, Overrides
from talekeeper.search import Index
from talekeeper.services import Services
from talekeeper.story import Address, Draft, Job, Message, Scope, Story
from talekeeper.testing import ScriptedServer
from talekeeper.trace import Trace
from talekeeper.turn.jobs import JobRunner

SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}
MANIFEST = """
[plugin]
id = "{id}"
version = "1.0.0"
api = 1
summary = "For a test."
module = "code"

[permissions]
models = ["extract"]

[contributes.data.notes]
schema = "note.schema.json"
search = {{ text = "text" }}

[contributes.data.common]
schema = "note.schema.json"
scope = "workspace"
"""

Bodies = Mapping[str, str]


@pytest.fixture(scope="session")
def write_plugin() -> Callable[..., Path]:
    """Writes `<folder>/<id>` with a job for each of `bodies`: the lines of its function of `ctx` and `job`."""

    def write(
        folder: Path, bodies: Bodies, *, plugin_id: str = "notes", on: str = "turn-committed", keyword: str = "def"
    ) -> Path:
        root = folder / plugin_id
        root.mkdir(parents=True, exist_ok=True)
        manifest, code = MANIFEST.format(id=plugin_id), "from talekeeper.api import *\n\nseen = []\n"
        register = "\n\n@hookimpl\ndef talekeeper_register(registry):\n"
        for name, body in bodies.items():
            manifest += f'\n[[contributes.jobs]]\nid = "{name}"\non = "{on}"\n'
            code += f"\n\n{keyword} {name}(ctx, job):\n" + textwrap.indent(textwrap.dedent(body).strip(), "    ")
            register += f'    registry.job("{name}", {name})\n'
        texts = {"plugin.toml": manifest, "note.schema.json": json.dumps(SCHEMA), "code.py": code + register}
        for name, text in (texts | {"__init__.py": ""}).items():
            (root / name).write_text(text, encoding="utf-8")
        return root

    return write


class Home:
    """The rooms over one store, as a process of its own would have them."""

    def __init__(
        self, folder: Path, clock: FixedClock, *, models: Models = NO_MODELS, strict: bool = False, **deadlines: float
    ) -> None:
        self.folder = folder
        self.clock = clock
        self.db = Database.open(folder / "store.sqlite", clock=clock, synchronous="OFF")
        index = Index()
        self.story = Story(self.db, index, clock, SortableIds(clock))
        given = Deadlines(**{"load": 30.0, "job": 30.0, **deadlines})
        self.host = Host(
            self.story,
            clock,
            folder=folder / "plugins",
            entries=tuple,
            deadlines=given,
            overrides=Overrides(strict=strict),
        )
        self.trace = Trace(folder / "traces.sqlite", clock=clock)
        self.services = Services(self.story, index, self.host, clock, models, self.trace)
        self.runner = JobRunner(self.services, models, Leases(folder / "leases", self.db))

    def address(self, name: str = "s") -> Address:
        """Of a session that is made when it is not there, with every plugin that is enabled."""
        if all(session.id != name for session in self.story.sessions.all("w")):
            self.story.sessions.create("w", session_id=name, plugins=self.host.enabled("w"))
        return Address("w", name)

    def turn(self, text: str, answer: str, *, session: str = "s") -> tuple[Job, ...]:
        """Tells a turn and notes its jobs in the commit of the narration."""
        address = self.address(session)
        (said,) = self.story.messages.append(address, [Draft("player", text)])
        return self.answer(answer, [said], session=session)

    def answer(self, text: str, said: list[Message], *, session: str = "s") -> tuple[Job, ...]:
        """Answers a turn whose player message is there."""
        address = self.address(session)
        self.host.ready(address)
        self.host.roster("w")

        def commit(tx: Tx) -> tuple[Job, ...]:
            (told,) = self.story.messages.answer(address, said[-1].coordinate, [Draft("narrator", text)], tx=tx)
            return self.runner.enqueue(tx, self.story.sessions.get(address, tx=tx), told, said)

        return self.story.write(commit, name="commit a turn")

    def retry(self, answer: str) -> tuple[Job, ...]:
        """Tells another take of the newest turn."""
        self.story.tree.retry(self.address())
        return self.answer(answer, [self.story.tree.newest_turn(self.address())[-1]])

    def run(self, session: str = "s", **options: Any) -> list[str]:
        """Runs what is due and says how each job ended."""
        return [f"{job.kind} {job.state}" for job in self.runner.run(self.address(session), **options)]

    def notes(self, plugin: str = "notes", namespace: str = "notes", session: str = "s") -> list[str]:
        """The texts of the live records of the head's lineage, in story order."""
        declared = self.host.namespace(f"{plugin}/{namespace}")
        scope = Scope("w") if declared.scope == "workspace" else Scope("w", session=session)
        return [record.value["text"] for record in self.story.records.list(declared, scope, limit=1000)]

    def close(self) -> None:
        """Lets go of files and threads."""
        self.host.close()
        self.trace.close()
        self.db.close()


@pytest.fixture(scope="session")
def until() -> Callable[[Callable[[], bool]], None]:
    """Waits for what another thread or process does; a minute without it is a failure and not for ever."""

    def wait(happened: Callable[[], bool]) -> None:
        end = time.monotonic() + 60
        while not happened():
            assert time.monotonic() < end, "it did not happen"
            time.sleep(0.005)

    return wait


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(datetime(2026, 3, 1, tzinfo=UTC))


@pytest.fixture
def open_home(tmp_path: Path, blank: Path, clock: FixedClock) -> Iterator[Callable[..., Home]]:
    """Opens the same store again and again; all are closed in the end."""
    shutil.copy(blank, tmp_path / "store.sqlite")
    opened: list[Home] = []

    def open_one(**options: Any) -> Home:
        opened.append(Home(tmp_path, clock, **options))
        return opened[-1]

    yield open_one
    for home in opened:
        home.close()


@pytest.fixture
def start(open_home: Callable[..., Home], write_plugin: Callable[..., Path], tmp_path: Path) -> Callable[..., Home]:
    """A home with the plugin `notes`, whose jobs have these bodies."""

    def make(bodies: Bodies, *, options: Mapping[str, Any] | None = None, **plugin: Any) -> Home:
        write_plugin(tmp_path / "plugins", bodies, **plugin)
        home = open_home(**(options or {}))
        home.host.enable(str(plugin.get("plugin_id", "notes")))
        return home

    return make


@pytest.fixture
def models_at() -> Callable[[ScriptedServer], Models]:
    """Models whose narrator is a scripted server, so that every slot is."""

    def make(server: ScriptedServer) -> Models:
        url = BaseUrl("http", "127.0.0.1", server.port, "/v1")
        return Models("file", {"narrator": Slot("narrator", url, model="m", network="loopback", retries=0)})

    return make
