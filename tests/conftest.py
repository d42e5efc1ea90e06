"""What tests of several rooms share: a database on each engine (`db`), and a home with plugins on disk (`services`)."""

from __future__ import annotations

import json
import shutil
import textwrap
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from talekeeper.clock import FixedClock, SystemClock
from talekeeper.db import Database
from talekeeper.ids import SortableIds
from talekeeper.models import NO_MODELS
from talekeeper.plugin_context import run_command
from talekeeper.plugins import Deadlines, Host
from talekeeper.search import Index
from talekeeper.services import Services
from talekeeper.story import Address, Draft, Session, Story

ENGINES = ["sqlite"]


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(datetime(2024, 5, 8, 13, 56, tzinfo=UTC))


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "talekeeper.sqlite"


@pytest.fixture(scope="session")
def blank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty store to be copied, because making one waits for the disk."""
    path = tmp_path_factory.mktemp("blank") / "talekeeper.sqlite"
    Database.open(path, clock=SystemClock()).close()
    return path


@pytest.fixture
def open_database(engine: str, blank: Path, path: Path, clock: FixedClock) -> Iterator[Callable[[], Database]]:
    """Opens the same store again and again; all are closed in the end."""
    assert engine == "sqlite"
    shutil.copy(blank, path)
    opened: list[Database] = []

    def open_one() -> Database:
        opened.append(Database.open(path, clock=clock, synchronous="OFF"))
        return opened[-1]

    yield open_one
    for each in opened:
        each.close()


@pytest.fixture
def db(open_database: Callable[[], Database]) -> Database:
    return open_database()


SCHEMA = {
    "type": "object",
    "properties": {
        "body": {"type": "string"},
        "name": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "authority": {"type": "string"},
        "enabled": {"type": "boolean"},
    },
    "required": ["body"],
    "additionalProperties": False,
}

Plug = Callable[..., None]
Tell = Callable[..., list[str]]
Start = Callable[..., Session]
Do = Callable[..., Any]


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store just made; each test works on a copy."""
    path = tmp_path_factory.mktemp("empty") / "store.sqlite"
    Database.open(path, clock=FixedClock(datetime(2026, 3, 1, tzinfo=UTC))).close()
    return path


@pytest.fixture
def services(tmp_path: Path, empty_store: Path) -> Iterator[Services]:
    """The rooms over an empty store; plugins come from `<tmp_path>/plugins`."""
    clock = FixedClock(datetime(2026, 3, 1, tzinfo=UTC))
    shutil.copy(empty_store, tmp_path / "store.sqlite")
    db = Database.open(tmp_path / "store.sqlite", clock=clock, synchronous="OFF")
    index = Index()
    story = Story(db, index, clock, SortableIds(clock))
    deadlines = Deadlines(load=30, command=5, importer=5)
    host = Host(story, clock, folder=tmp_path / "plugins", entries=tuple, deadlines=deadlines)
    yield Services(story, index, host, clock, NO_MODELS)
    db.close()


@pytest.fixture
def plug(services: Services, tmp_path: Path) -> Plug:
    """Writes a plugin with one namespace `entries` and enables it."""

    def make(
        plugin_id: str,
        code: str | None = None,
        *,
        data: str = 'search = { text = "body", title = "name" }',
        more: str = "",
        head: str = "",
        files: dict[str, str] | None = None,
        enable: bool = True,
    ) -> None:
        root = tmp_path / "plugins" / plugin_id
        root.mkdir(parents=True, exist_ok=True)
        module = 'module = "code"\n' if code is not None else ""
        manifest = (
            f'[plugin]\nid = "{plugin_id}"\nversion = "1.0.0"\napi = 1\nsummary = "For a test."\n{module}{head}\n'
            f'[contributes.data.entries]\nschema = "entries.schema.json"\n{data}\n{textwrap.dedent(more)}'
        )
        texts = {"plugin.toml": manifest, "entries.schema.json": json.dumps(SCHEMA), **(files or {})}
        if code is not None:
            texts |= {"__init__.py": "", "code.py": textwrap.dedent(code)}
        for name, text in texts.items():
            (root / name).write_text(text, encoding="utf-8")
        services.host.look_again()
        if enable:
            services.host.enable(plugin_id)

    return make


@pytest.fixture
def start(services: Services) -> Callable[..., Session]:
    """Makes a session with the plugins enabled now."""

    def make(name: str = "s", workspace: str = "w", **more: Any) -> Session:
        plugins = more.pop("plugins", services.host.enabled(workspace))
        return services.story.sessions.create(workspace, session_id=name, plugins=plugins, **more)

    return make


@pytest.fixture
def tell(services: Services) -> Tell:
    """Appends `speaker: text` lines as messages, "you" being the player, and gives their ids."""

    def append(*lines: str, session: str = "s", workspace: str = "w") -> list[str]:
        drafts: list[Draft] = []
        for line in lines:
            speaker, _, text = line.partition(": ")
            drafts.append(Draft("player" if speaker == "you" else "narrator", text, speaker=speaker))
        return [message.id for message in services.story.messages.append(Address(workspace, session), drafts)]

    return append


COMMAND = """
    [[contributes.commands]]
    id = "do"
    parameters = "do.schema.json"
"""
REGISTER = "\n\n@hookimpl\ndef talekeeper_register(registry):\n    registry.command('do', do)\n"


@pytest.fixture
def do(services: Services, plug: Plug, start: Start) -> Do:
    """Runs the body of a command `do(ctx, arguments)` of plugin `lore` in session `s` and gives what it gives."""

    def run(body: str, *, arguments: dict[str, Any] | None = None, keyword: str = "def", **options: Any) -> Any:
        code = "from talekeeper.api import *\n\nkept = []\n\n" + f"{keyword} do(ctx, arguments):\n"
        code += textwrap.indent(textwrap.dedent(body), "    ") + REGISTER
        more = COMMAND + textwrap.dedent(options.pop("more", ""))
        plug("lore", code, more=more, files={"do.schema.json": '{"type": "object"}'}, **options)
        if not services.story.workspaces.all():
            start(preset="noir", title="A night", locale="zh")
        try:
            return run_command(services, Address("w", "s"), "lore/do", arguments or {})
        finally:
            services.host.disable("lore")

    return run
