"""One bad plugin of every kind beside two good ones: it ends in a named state with its reason, the good ones work."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from talekeeper.errors import PluginError
from talekeeper.memory_search import read_question, search_memory
from talekeeper.plugin_context import run_command
from talekeeper.plugins import Deadlines, State
from talekeeper.services import Services
from talekeeper.story import Address, Scope, Session

Plug = Callable[..., None]
Start = Callable[..., Session]

S = Address("w", "s")
COMMAND = """
    [[contributes.commands]]
    id = "do"
"""
GOOD = """
    from talekeeper.api import hookimpl

    @hookimpl
    def talekeeper_register(registry):
        registry.command("do", lambda ctx, arguments: ctx.data["entries"].count())
"""


def _command(body: str) -> str:
    return GOOD.replace('lambda ctx, arguments: ctx.data["entries"].count()', "do").replace(
        "    @hookimpl", f"    def do(ctx, arguments):\n        {body}\n\n    @hookimpl"
    )


@dataclass(frozen=True)
class Hostile:
    """A plugin by its code or by what is done to its folder; `state` and `told` are what becomes of it."""

    told: str
    state: State = State.FAILED
    code: str = GOOD
    harm: Callable[[Path], None] | None = None
    more: str = COMMAND
    calls: int = 3
    searchable: bool = False


def _manifest(text: str) -> Callable[[Path], None]:
    def write(root: Path) -> None:
        (root / "plugin.toml").write_text(text, encoding="utf-8")

    return write


def _link_out(root: Path) -> None:
    (root / "more.jsonl").symlink_to("/etc/hostname")


def _twin(root: Path) -> None:
    """Makes the folder claim the id of a good plugin."""
    text = (root / "plugin.toml").read_text().replace('id = "bad"', 'id = "good-one"')
    (root / "plugin.toml").write_text(text)


CORPUS = {
    "raises at import": Hostile("ZeroDivisionError", code="1 / 0"),
    "exits at import": Hostile("SystemExit", code="raise SystemExit(3)"),
    "does not parse": Hostile("SyntaxError", code="def do(:"),
    "raises at register": Hostile("ValueError: no", code=GOOD + "        raise ValueError('no')\n"),
    "registers nothing": Hostile("the code does not register it", code="x = 1"),
    "registers the undeclared": Hostile(
        "registers tool 'sly', plugin.toml does not declare it", code=GOOD + "        registry.tool('sly', print)\n"
    ),
    "sleeps at import": Hostile("took longer", code="import threading\nthreading.Event().wait()"),
    "raises in a function": Hostile("suspended after 3 failures", code=_command("1 / 0"), searchable=True),
    "exits in a function": Hostile("SystemExit", code=_command("raise SystemExit"), searchable=True),
    "returns an object": Hostile(
        "is object, which JSON does not have", code=_command("return object()"), searchable=True
    ),
    "returns 10 MB": Hostile("larger than 262,144 bytes", code=_command("return 'x' * 10_000_000"), searchable=True),
    "returns itself": Hostile(
        "nested deeper than 64", code=_command("loop = []; loop.append(loop); return loop"), searchable=True
    ),
    "recurses": Hostile("RecursionError", code=_command("return do(ctx, arguments)"), searchable=True),
    "sleeps": Hostile(
        "command do took longer", code=_command("import threading; threading.Event().wait()"), searchable=True
    ),
    "mutates its arguments": Hostile("frozen", code=_command("arguments['x'] = 1"), searchable=True),
    "reads what it did not declare": Hostile(
        "command do: it reads memory/facts; add", code=_command("ctx.data['memory/facts']"), searchable=True
    ),
    "tool of the kernel's name": Hostile(
        "memory-search",
        State.BLOCKED,
        more='[[contributes.tools]]\nname = "memory-search"\ndescription = "d"\nparameters = "entries.schema.json"\n',
    ),
    "manifest of 10 MB": Hostile("plugin.toml", State.INVALID, harm=_manifest("x = '" + "y" * 10_000_000 + "'")),
    "manifest nested 5,000 deep": Hostile("plugin.toml", State.INVALID, harm=_manifest("x = " + "[" * 5_000)),
    "homoglyph id": Hostile(
        "id", State.INVALID, harm=_manifest('[plugin]\nid = "bаd"\nversion = "1"\napi = 1\nsummary = "s"\n')
    ),
    "the id of a good one": Hostile("'good-one'", State.INVALID, harm=_twin),
}
if os.name == "posix":
    CORPUS["link out of the folder"] = Hostile("leads out", State.BLOCKED, harm=_link_out)
    CORPUS["folder open to everybody"] = Hostile(
        "everybody may write", State.BLOCKED, harm=lambda root: root.chmod(0o777)
    )


@pytest.mark.parametrize("hostile", CORPUS.values(), ids=CORPUS)
def test_a_hostile_plugin_ends_in_a_named_state_while_the_others_work(
    services: Services, plug: Plug, start: Start, tmp_path: Path, hostile: Hostile
) -> None:
    services.host.guard.deadlines = Deadlines(load=1.0)
    for name in ("good-one", "good-two"):
        plug(name, GOOD, more=COMMAND)
    plug("bad", hostile.code, more=hostile.more, enable=hostile.state is State.FAILED)
    if hostile.harm is not None:
        hostile.harm(tmp_path / "plugins" / "bad")
        services.host.look_again()
    session = start(plugins=("bad", "good-one", "good-two"))
    for name in ("bad", "good-one", "good-two") if hostile.searchable else ("good-one", "good-two"):
        namespace = services.host.namespace(f"{name}/entries")
        services.story.records.put(namespace, Scope("w", "s"), name, {"body": "the key"}, person=True)

    # Short enough to see an overrun soon, and for the bad one alone.
    services.host.guard.deadlines = Deadlines(load=1.0, command=0.2 if hostile.told.endswith("took longer") else 5.0)
    for _ in range(hostile.calls):
        with pytest.raises(PluginError):
            run_command(services, S, "bad/do", {})
    services.host.guard.deadlines = Deadlines()

    plugin = services.host.roster(session=session).by_id["bad"]
    assert (plugin.state, hostile.told in plugin.reason) == (hostile.state, True), plugin.reason
    assert "Traceback" not in plugin.reason
    for name in ("good-one", "good-two"):
        assert run_command(services, S, f"{name}/do", {}) == 1
    answer = search_memory(services, S, read_question({"query": "key"})).as_json()
    assert {hit["plugin"] for hit in answer["results"]} >= {"good-one"}
    assert ("bad" in str(answer["unavailable"])) is not hostile.searchable
    for name in ("good-one", "good-two", "bad"):
        if services.host.plugin(name).manifest is not None:
            services.host.disable(name)


def test_two_hundred_plugins_are_listed_without_importing_one(services: Services, plug: Plug) -> None:
    for number in range(200):
        plug(f"p{number}", "raise AssertionError('imported')", more=COMMAND, enable=number == 100)

    roster = services.host.roster()

    assert len(roster.plugins) == 200
    assert {plugin.state for plugin in roster.plugins} == {State.ENABLED, State.DISABLED}


def test_undeclared_use_is_denied_and_told(services: Services, plug: Plug, start: Start, caplog: Any) -> None:
    swallowing = "import contextlib\n        with contextlib.suppress(Exception): ctx.data['memory/facts']"
    plug("bad", _command(swallowing), more=COMMAND)
    start()

    with caplog.at_level("WARNING", logger="talekeeper.plugins"):
        run_command(services, S, "bad/do", {})

    assert any(message.startswith("denied: bad: it reads memory/facts") for message in caplog.messages)
    services.host.disable("bad")
