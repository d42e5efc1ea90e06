from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from talekeeper.errors import NotFound, ParameterError, PluginError, Retry, Skip, UserError
from talekeeper.plugin_context import run_command
from talekeeper.plugins import Host, State
from talekeeper.services import Services
from talekeeper.story import Address, Session

Plug = Callable[..., None]
Start = Callable[..., Session]
Do = Callable[..., Any]

S = Address("w", "s")
REGISTER = "\n\n@hookimpl\ndef talekeeper_register(registry):\n    registry.command('do', do)\n"
PARAMETERS = """
    [[contributes.commands]]
    id = "do"
    parameters = "do.schema.json"
"""


def test_a_command_reads_its_arguments_and_gives_json(do: Do) -> None:
    assert do("return {'got': arguments['n'] + 1, 'list': (1, 2)}", arguments={"n": 1}) == {"got": 2, "list": [1, 2]}


def test_a_command_may_be_a_coroutine(do: Do) -> None:
    assert do("return arguments['n']", arguments={"n": 1}, keyword="async def") == 1


@pytest.mark.parametrize("error", [UserError("give a name"), Skip("nothing to do"), Retry("later", after=2.0)])
def test_what_a_command_raises_on_purpose_passes_through(do: Do, error: Exception) -> None:
    code = {
        "UserError": "UserError('give a name')",
        "Skip": "Skip('nothing to do')",
        "Retry": "Retry('later', after=2.0)",
    }

    with pytest.raises(type(error), match=str(error)):
        do(f"raise {code[type(error).__name__]}")


def test_arguments_are_held_against_the_declared_schema(services: Services, plug: Plug, start: Start) -> None:
    schema = (
        '{"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": false}'
    )
    plug(
        "lore",
        "from talekeeper.api import *" + "\n\ndef do(ctx, arguments):\n    return arguments['n']" + REGISTER,
        more=PARAMETERS,
        files={"do.schema.json": schema},
    )
    start()

    assert run_command(services, S, "lore/do", {"n": 3}) == 3
    for arguments, told in (
        ({}, "arguments: the property 'n' is missing"),
        ({"n": "3"}, "n: must be of type integer"),
        ({"n": 3, "m": 4}, "arguments: the property 'm' is not in the schema"),
    ):
        with pytest.raises(ParameterError) as caught:
            run_command(services, S, "lore/do", arguments)
        assert str(caught.value) == told
    services.host.disable("lore")


def test_a_command_without_parameters_takes_none(services: Services, plug: Plug, start: Start) -> None:
    plug(
        "lore",
        "from talekeeper.api import *" + "\n\ndef do(ctx, arguments):\n    return 1" + REGISTER,
        more='[[contributes.commands]]\nid = "do"\n',
    )
    start()

    with pytest.raises(ParameterError, match="n: this command takes no arguments"):
        run_command(services, S, "lore/do", {"n": 3})


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("gone/do", "no plugin 'gone'; found are lore"),
        ("lore/undo", "plugin 'lore' has no command 'undo'; it has lore/do"),
        ("lore", "plugin 'lore' has no command ''"),
    ],
)
def test_an_unknown_command_is_told_with_those_there_are(do: Do, services: Services, path: str, told: str) -> None:
    do("return None")

    with pytest.raises(NotFound, match=told):
        run_command(services, S, path, {})


def test_a_plugin_that_is_off_runs_nothing(services: Services, plug: Plug, start: Start) -> None:
    plug("lore", "raise AssertionError('imported')", more='[[contributes.commands]]\nid = "do"\n', enable=False)
    start()

    with pytest.raises(PluginError, match="lore: it is disabled"):
        run_command(services, S, "lore/do", {})


@pytest.mark.parametrize("value", [float("nan"), "\ud800", object()], ids=["NaN", "surrogate", "object"])
def test_arguments_that_json_cannot_hold_are_refused(do: Do, value: object) -> None:
    with pytest.raises(ParameterError, match="arguments: /n"):
        do("return 1", arguments={"n": value})


def test_code_that_failed_for_want_of_something_else_is_tried_again_by_the_next_process(
    services: Services, plug: Plug, start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = "import talekeeper_missing_helper\nfrom talekeeper.api import *\n\ndef do(ctx, arguments):\n    return 1"
    plug("lore", code + REGISTER, more='[[contributes.commands]]\nid = "do"\n')
    session = start()
    with pytest.raises(PluginError, match="talekeeper_missing_helper"):
        run_command(services, S, "lore/do", {})
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "talekeeper_missing_helper.py").write_text("")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    host = Host(services.story, services.clock, folder=tmp_path / "plugins", entries=tuple)
    before = host.roster(session=session).by_id["lore"]

    given = run_command(replace(services, host=host), S, "lore/do", {})

    assert before.state is State.FAILED
    assert "talekeeper plugins enable lore tries it again" in before.reason
    assert given == 1
    assert host.roster(session=session).by_id["lore"].state is State.ACTIVE
    host.disable("lore")
