"""A home in a real file, plugins written to disk, and narrators that answer from a script."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from talekeeper.clock import FixedClock
from talekeeper.db import Database, Leases, Tx
from talekeeper.ids import SortableIds
from talekeeper.manifest import Namespace
from talekeeper.models import NARRATOR, NO_MODELS, BaseUrl, Models, Slot, TimeLimits
from talekeeper.plugins import Deadlines, Host
from talekeeper.search import Index
from talekeeper.services import Services
from talekeeper.story import Address, Draft, Message, Record, Scope, Story
from talekeeper.testing import OneModel, Recorded, ScriptedNarrator, ScriptedServer, Step, say
from talekeeper.turn import Narrator, Preset

SCHEMA = {
    "type": "object",
    "properties": {"text": {"type": "string"}},
    "required": ["text"],
    "additionalProperties": False,
}
LIMITS = TimeLimits(connect=20.0, first=20.0, between=20.0, total=60.0)
SLOT = Slot(NARRATOR, BaseUrl("http", "127.0.0.1", 9, "/v1"), model="m", network="loopback", limits=LIMITS, retries=0)

TABLES = ("message", "record", "use", "usage", "decision", "job")

Script = Iterable[Step] | Callable[[Recorded], Step]


@dataclass
class Stage:
    """One session `s` of a workspace `w`, and everything a turn of it needs."""

    folder: Path
    db: Database
    services: Services
    leases: Leases
    address: Address = field(default_factory=lambda: Address("w", "s"))
    model: ScriptedNarrator = field(default_factory=lambda: ScriptedNarrator(()))

    @property
    def story(self) -> Story:
        return self.services.story

    def narrator(
        self, script: Script = (), *, preset: Preset | None = None, wait: float = 2.0, **fields: Any
    ) -> Narrator:
        """A narrator with a script of its own; `fields` are the slot's."""
        slot = replace(SLOT, **fields)
        self.model = ScriptedNarrator(script, slot)
        models = OneModel(self.model, slot)
        return Narrator(self.services, models, self.leases, presets=lambda _: preset or Preset(), wait=wait)

    def at_server(self, server: ScriptedServer, **fields: Any) -> Narrator:
        """A narrator that asks a real endpoint."""
        slot = replace(SLOT, url=BaseUrl("http", "127.0.0.1", server.port, "/v1"), **fields)
        return Narrator(self.services, Models("file", {NARRATOR: slot}), self.leases)

    def play(self, *lines: str, **fields: Any) -> None:
        """Turns with these player's messages; the narrator answers `re: …`."""
        narrator = self.narrator([say(f"re: {line}") for line in lines], **fields)
        for line in lines:
            narrator.turn(self.address, line)

    def append(self, *drafts: Draft) -> list[Message]:
        return self.story.messages.append(self.address, drafts)

    def told(self) -> list[str]:
        """The texts on the head's lineage."""
        return [message.text for message in self.story.messages.read(self.address)]

    def prompt(self, number: int = -1) -> list[dict[str, Any]]:
        """The messages of a question the narrator was asked."""
        messages: list[dict[str, Any]] = self.model.requests[number].body["messages"]
        return messages

    def rows(self) -> dict[str, int]:
        """How many rows each table has that a turn writes to."""

        def count(tx: Tx) -> dict[str, int]:
            return {table: tx.rows(f"SELECT count(*) FROM {table}")[0][0] for table in TABLES}

        return self.story.read(count)

    def namespace(self, plugin: str) -> Namespace:
        return self.services.host.namespace(f"{plugin}/facts")

    def fact(self, plugin: str, key: str, text: str) -> None:
        """A fact as a person writes it, on every branch."""
        self.story.records.put(self.namespace(plugin), Scope("w", session="s"), key, {"text": text}, person=True)

    def facts(self, plugin: str) -> list[Record]:
        return self.story.records.list(self.namespace(plugin), Scope("w", session="s"), limit=1000)

    def plug(self, plugin: str, code: str, manifest: str = "", files: Mapping[str, str] | None = None) -> None:
        """Writes a plugin with a searched namespace `facts`, enables it, and gives it to the session."""
        root = self.folder / "plugins" / plugin
        root.mkdir(parents=True, exist_ok=True)
        head = (
            f'[plugin]\nid = "{plugin}"\nversion = "1.0.0"\napi = 1\nsummary = "For a test."\nmodule = "code"\n'
            '[contributes.data.facts]\nschema = "facts.json"\nsearch = { text = "text" }\n'
        )
        texts = {
            "plugin.toml": head + textwrap.dedent(manifest),
            "facts.json": json.dumps(SCHEMA),
            "any.json": json.dumps({"type": "object"}),
            "__init__.py": "",
            "code.py": "from talekeeper.api import *\n" + textwrap.dedent(code),
            **(files or {}),
        }
        for name, text in texts.items():
            (root / name).write_text(text, encoding="utf-8")
        self.services.host.look_again()
        self.services.host.enable(plugin)
        self.services.host.change_session(self.address, add=[plugin])


@pytest.fixture(scope="session")
def blank_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store just made; each test works on a copy."""
    path = tmp_path_factory.mktemp("blank") / "store.sqlite"
    Database.open(path, clock=FixedClock(datetime(2026, 3, 1, tzinfo=UTC))).close()
    return path


@pytest.fixture
def set_up(blank_store: Path) -> Iterator[Callable[[Path], Stage]]:
    """Opens a stage in a folder; more than one may be."""
    opened: list[Stage] = []

    def make(folder: Path) -> Stage:
        folder.mkdir(parents=True, exist_ok=True)
        clock = FixedClock(datetime(2026, 3, 1, tzinfo=UTC))
        shutil.copy(blank_store, folder / "store.sqlite")
        db = Database.open(folder / "store.sqlite", clock=clock, synchronous="OFF")
        index = Index()
        story = Story(db, index, clock, SortableIds(clock))
        # Long enough for a busy machine; a test of a deadline sets its own.
        deadlines = Deadlines(load=30, segment=20, tool=20)
        host = Host(story, clock, folder=folder / "plugins", entries=tuple, deadlines=deadlines)
        stage = Stage(folder, db, Services(story, index, host, clock, NO_MODELS), Leases(folder / "leases", db))
        story.sessions.create("w", session_id="s")
        opened.append(stage)
        return stage

    yield make
    for stage in opened:
        stage.services.host.close()
        stage.db.close()


@pytest.fixture
def stage(set_up: Callable[[Path], Stage], tmp_path: Path) -> Stage:
    return set_up(tmp_path / "home")


RECALL = """
    [[contributes.prompt]]
    id = "recalled"
    position = "after-history"
    budget = 2000
"""
RECALL_CODE = """
    def recalled(ctx, turn):
        found = ctx.data["facts"].list(limit=1000)
        return [Line(one.value["text"], id=one.key, source="facts", turn=1) for one in found]

    @hookimpl
    def talekeeper_register(registry):
        registry.prompt("recalled", recalled)
"""


@pytest.fixture
def recalling(stage: Stage) -> Stage:
    """A stage whose plugin `memo` shows all of its facts after the history."""
    stage.plug("memo", RECALL_CODE, RECALL)
    return stage


WHOLE_CODE = """
    def recalled(ctx, turn):
        return [Line(one.value["text"], id=one.key, source="facts") for one in ctx.data["facts"].list()]

    def keep(ctx, arguments):
        with ctx.data.batch() as batch:
            batch.add("facts", {"text": "kept"}, dedupe="kept")

    def extract(ctx, job):
        return JobResult(did_work=False)

    @hookimpl
    def talekeeper_register(registry):
        registry.prompt("recalled", recalled)
        registry.tool("keep", keep)
        registry.job("extract", extract)
"""
WHOLE = """
    [[contributes.prompt]]
    id = "recalled"
    position = "after-history"
    budget = 2000

    [[contributes.tools]]
    name = "keep"
    description = "Keeps a fact for later use."
    effects = "write"

    [[contributes.jobs]]
    id = "extract"
    on = "turn-committed"
"""


@pytest.fixture
def whole(stage: Stage) -> Stage:
    """A stage on which a turn writes to every table there is."""
    stage.plug("memo", WHOLE_CODE, WHOLE)
    stage.fact("memo", "lamp", "The lamp is cracked.")
    return stage
