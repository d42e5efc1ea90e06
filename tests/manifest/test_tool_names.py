"""Names of tools that differ only in case, or in hyphens and underscores, are one name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from talekeeper.manifest.loader import Checked
from talekeeper.manifest.report import Examined
from talekeeper.manifest.targets import beside_each_other

Found = Callable[..., list[str]]
TOOL = '\n[[contributes.tools]]\nname = "{}"\ndescription = "Rolls dice of so many sides."\n'


def with_tools(head: str, *names: str) -> str:
    return head + 'module = "code"\n' + "".join(map(TOOL.format, names))


@pytest.mark.parametrize("name", ["memory-search", "memory_search", "Memory-Search"])
def test_no_spelling_of_a_kernel_tool_is_free(found: Found, head: str, name: str) -> None:
    assert found(with_tools(head, name)) == [f"9:8 TK212 the tool name {name} is taken by the kernel"]


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ("roll-dice", "declared twice"),
        ("roll_dice", 'the same as "roll-dice" to some models'),
        ("Roll-Dice", 'the same as "roll-dice" to some models'),
    ],
)
def test_two_tools_of_one_plugin_are_told_apart_by_more_than_spelling(
    found: Found, head: str, second: str, said: str
) -> None:
    assert found(with_tools(head, "roll-dice", second)) == [f'13:8 TK210 name "{second}" is {said}']


def test_two_plugins_with_two_spellings_of_a_tool_are_warned_of(
    check: Callable[[str], Checked], head: str, tmp_path: Path
) -> None:
    manifests = {"dice": "roll-dice", "games": "Roll_Dice"}
    examined = [
        Examined(name, check(with_tools(head.replace('"lore"', f'"{name}"'), tool)), tmp_path)
        for name, tool in manifests.items()
    ]

    told = [str(it) for it in beside_each_other(examined)[1].checked.diagnostics if it.code == "TK230"]

    assert told == [
        'games:9:8: TK230 the tool "Roll_Dice" is declared by dice too; when both are active, one is blocked'
    ]
