from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from talekeeper.errors import NotFound, ParameterError
from talekeeper.plugins import Host
from talekeeper.story import Address, Story

MakePlugin = Callable[..., Path]
OpenHost = Callable[..., Host]

SETTINGS = """
    [[contributes.settings]]
    key = "size"
    type = "integer"
    default = 3
    min = 1
    max = 9
    label = "Size"
    [[contributes.settings]]
    key = "mood"
    type = "string"
    default = "calm"
    choices = ["calm", "wild"]
    label = "Mood"
"""


def test_settings_resolve_from_the_narrowest_scope_that_has_one(make_plugin: MakePlugin, open_host: OpenHost) -> None:
    make_plugin("lore", more=SETTINGS)
    host = open_host()
    host.configure("lore", "size", 4)
    host.configure("lore", "size", 5, "w")
    host.configure("lore", "size", 6, "w", "s")
    host.configure("lore", "mood", "wild", "w")

    plugin = host.plugin("lore")

    assert host.settings(plugin) == {"size": 4, "mood": "calm"}
    assert host.settings(plugin, "w") == {"size": 5, "mood": "wild"}
    assert host.settings(plugin, "w", "s") == {"size": 6, "mood": "wild"}
    assert host.settings(plugin, "other", "s") == {"size": 4, "mood": "calm"}
    host.configure("lore", "size", None, "w", "s")
    assert host.settings(plugin, "w", "s") == {"size": 5, "mood": "wild"}


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("size", 10, "size: it lies between 1 and 9"),
        ("size", "4", 'size: it is integer, "4" is not'),
        ("size", True, "size: it is integer, true is not"),
        ("mood", "sad", "mood: it is one of calm, wild"),
    ],
)
def test_a_setting_that_does_not_fit_is_refused(
    make_plugin: MakePlugin, open_host: OpenHost, name: str, value: object, told: str
) -> None:
    make_plugin("lore", more=SETTINGS)

    with pytest.raises(ParameterError, match=told):
        open_host().configure("lore", name, value)


def test_an_undeclared_setting_is_told_with_those_there_are(make_plugin: MakePlugin, open_host: OpenHost) -> None:
    make_plugin("lore", more=SETTINGS)

    with pytest.raises(NotFound, match="no setting 'siez'; it has mood, size"):
        open_host().configure("lore", "siez", 3)


def test_a_stored_setting_that_no_longer_fits_gives_way_to_the_default(
    make_plugin: MakePlugin, open_host: OpenHost
) -> None:
    make_plugin("lore", more=SETTINGS)
    open_host().configure("lore", "size", 9)
    make_plugin("lore", more=SETTINGS.replace("max = 9", "max = 5"))

    host = open_host()

    assert host.settings(host.plugin("lore"))["size"] == 3


def test_rows_of_a_deleted_session_and_workspace_go_with_them(
    make_plugin: MakePlugin, open_host: OpenHost, story: Story
) -> None:
    make_plugin("lore", more=SETTINGS)
    host = open_host()
    story.sessions.create("w", session_id="s")
    host.enable("lore", "w")
    host.change_session(Address("w", "s"), add=["lore"])
    host.configure("lore", "size", 5, "w", "s")
    host.configure("lore", "size", 4, "w")

    def left() -> list[tuple[Any, ...]]:
        return story.read(
            lambda tx: tx.rows(
                "SELECT workspace, session FROM plugin_switch UNION ALL SELECT workspace, session FROM plugin_setting"
            )
        )

    story.sessions.delete(Address("w", "s"))
    assert set(left()) == {("w", "")}
    story.workspaces.delete("w")
    assert left() == []
