"""The manifests of other hosts, told in this one's words, broken one fault at a time."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest
from talekeeper.manifest.loader import check_file

GOOD = Path(__file__).parent / "good"
MARK = "▸"


class Fault(NamedTuple):
    """In the manifest of `plugin`, `old` becomes `new`.

    The mark in `new`, or in `elsewhere`, stands where the diagnostic has to point. `also`: codes that follow from it.
    """

    plugin: str
    old: str
    new: str
    code: str
    says: str
    elsewhere: str = ""
    also: tuple[str, ...] = ()


# fmt: off - a line for a fault
FAULTS = [
    # Home automation: a domain with codeowners, dependencies and an access class.
    Fault("lamp-hub", 'id = "lamp-hub"', '▸domain = "lamp-hub"', "TK221", 'unknown key "domain"', also=("TK204",)),
    Fault("lamp-hub", 'requires = ["room-plan", "clock"]', 'requires = ["room-plan", ▸"wall_clock"]', "TK101", '"_"'),
    Fault("lamp-hub", 'requires = ["room-plan", "clock"]', 'requires = ▸"room-plan"', "TK203", "expected a list"),
    Fault("lamp-hub", 'optional = ["camera", ', 'optional = [▸"clock", ', "TK107", "already"),
    Fault("lamp-hub", "[x]\ncodeowners = [", "▸codeowners = [", "TK221", "in [permissions]", also=("TK221", "TK221")),
    Fault("lamp-hub", 'version = "4.7.1"', 'version = ▸"4.7.x"', "TK102", "PEP 440"),
    Fault("lamp-hub", 'version = "4.7.1"\n', "", "TK204", 'no "version" in [plugin]', elsewhere="[▸plugin]"),
    Fault("lamp-hub", "limit = 200", "limit = ▸0", "TK206", "at least 1"),
    Fault("lamp-hub", 'scope = "workspace"', 'scope = ▸"local_push"', "TK205", '"session"'),
    Fault("lamp-hub", 'cron = "*/15 * * * *"', 'cron = ▸"*/15 * * *"', "TK219", "5 fields"),
    Fault("lamp-hub", 'on = "schedule"', 'on = ▸"polling"', "TK205", '"turn-committed"'),
    Fault("lamp-hub", 'http = ["lamp-bridge.local"]', 'http = [▸"_lamp._tcp.local."]', "TK229", "host name"),
    Fault("lamp-hub", '["room-plan/rooms"]', '[▸"lamp-hub/lamps"]', "TK226", "own namespace"),
    # Editor extensions: participants, commands with titles, tools with input schemas, settings with enums.
    Fault("tutor-cat", 'id = "random-teach"', 'id = ▸"randomTeach"', "TK213", '"T"'),
    Fault("tutor-cat", 'id = "play"\n', 'id = "play"\n▸title = "Play"\n', "TK221", 'unknown key "title"'),
    Fault("tutor-cat", "[[contributes.prompt]]", "[[contributes.▸chatParticipants]]", "TK201", "chatParticipants"),
    Fault("tutor-cat", 'parameters = "tabs.schema.json"', 'parameters = ▸{ type = "object" }', "TK203", "a table"),
    Fault("tutor-cat", 'parameters = "tabs.schema.json"', 'parameters = ▸"tab.schema.json"', "TK301", "no file"),
    Fault("tutor-cat", 'name = "tutor-cat_tabCount"', 'name = ▸"tutor-cat.tabCount"', "TK211", '"."'),
    Fault("tutor-cat", 'name = "tutor-cat_findFiles"', 'name = ▸"tutor-cat_tabCount"', "TK210", "twice"),
    Fault("tutor-cat", 'requires-host = ">=0.1"', 'requires-host = ▸"^1.100.0"', "TK104", "specifiers"),
    Fault("tutor-cat", 'position = "system"', 'position = ▸"top"', "TK205", '"before-history"'),
    Fault("tutor-cat", "budget = 400", "▸budgit = 400", "TK221", 'unknown key "budgit"'),
    Fault("tutor-cat", "budget = 300", "budget = ▸300.5", "TK203", "a whole number"),
    Fault("tutor-cat", 'module = "extension"', 'module = ▸"./extension.js"', "TK108", "Python module"),
    Fault("outline-tree", 'key = "autorefresh"', 'key = ▸"outline.autorefresh"', "TK214", '"."'),
    Fault("outline-tree", 'default = "story"', 'default = ▸"date"', "TK222", "none of the choices"),
    Fault("outline-tree", 'choices = ["story", ', 'choices = ["story", ▸2, ', "TK223", "string"),
    Fault("outline-tree", "default = true", 'default = ▸"true"', "TK222", "boolean"),
    Fault("outline-tree", 'text = ["label", "tooltip"]', 'text = ["label", ▸"toolTip"]', "TK307", "nodes.schema.json"),
    Fault("outline-tree", 'text = ["label", "tooltip"]', 'text = ["label", ▸"label"]', "TK210", "twice"),
    Fault("outline-tree", 'title = "label"', 'title = ▸"open"', "TK308", "boolean"),
    Fault("outline-tree", "[contributes.data.nodes]", "[contributes.data.▸Nodes]", "TK208", '"N"'),
    Fault("outline-tree", "[contributes.data.nodes]", "[▸commands]", "TK221", 'unknown key "commands" in the manifest'),
    # An image viewer's plugin: readers with patterns, sample data, numbers with bounds.
    Fault("layer-reader", 'match = ["*.xyz"]', 'match = ▸"*.xyz"', "TK203", "expected a list"),
    Fault("layer-reader", 'match = ["*.xyz"]', "match = ▸[]", "TK207", "at least 1"),
    Fault("layer-reader", 'match = ["*.xyz"]', '▸filename_patterns = ["*.xyz"]', "TK221", "patterns", also=("TK204",)),
    Fault("layer-reader", 'match = ["*.fzy", "*.fzzy"]', 'match = ["*.fzy", ▸"data/**"]', "TK224", "folders"),
    Fault("layer-reader", 'type = "number"', 'type = ▸"float"', "TK205", '"number"'),
    Fault("layer-reader", "min = 0.1", "▸minimum = 0.1", "TK221", 'unknown key "minimum"'),
    Fault("layer-reader", "max = 4096", "max = 256", "TK222", "above max 256", elsewhere="default = ▸512"),
    Fault("layer-reader", "min = 0.1", "min = ▸2.5", "TK223", "above max", also=("TK222",)),
    Fault("layer-reader", 'seed = "samples/**/*.jsonl"', 'seed = ▸"samples/*.csv"', "TK310", "no file"),
    Fault("layer-reader", 'seed = "samples/**/*.jsonl"', 'seed = ▸"../samples/*.jsonl"', "TK302", '".."'),
    Fault("layer-reader", 'id = "hello_world"', 'id = "hello_world▸\n', "TK005", "illegal character"),
    Fault("layer-reader", 'module = "some_module"', 'module = ▸"some_module:get_reader"', "TK108", "Python module"),
    # An assistant's memory plugin: needs of its environment, settings by schema, tools by name.
    Fault("recall-gate", 'id = "recall-gate"', 'id = ▸"Recall Gate"', "TK101", '"R"'),
    Fault("recall-gate", "[x.requires]", "[▸requires]", "TK221", 'unknown key "requires" in the manifest'),
    Fault("recall-gate", 'visibility = "owner"', 'visibility = ▸"private"', "TK205", '"narrator" or "owner"'),
    Fault("recall-gate", "limit = 1000\n", "", "TK215", "append-only", elsewhere='on-limit = ▸"oldest"'),
    Fault("recall-gate", "append-only = true", "▸append_only = true", "TK221", "append_only"),
    Fault("recall-gate", 'optional = ["memory"]\n', "", "TK227", "neither", elsewhere='read = [▸"memory/facts"]'),
    Fault("recall-gate", 'files = ["notes/**"]', 'files = [▸"~/notes/**"]', "TK228", "home folder"),
    Fault("recall-gate", "default = 3\n", "default = ▸-1\n", "TK222", "below min 0"),
]
# fmt: on


def _broken(fault: Fault, text: str) -> tuple[str, int, int]:
    """The broken manifest, with the line and the column of the mark."""
    assert fault.old in text
    marked = text.replace(fault.old, fault.new, 1)
    if fault.elsewhere:
        assert fault.elsewhere.replace(MARK, "") in marked
        marked = marked.replace(fault.elsewhere.replace(MARK, ""), fault.elsewhere, 1)
    before, _, after = marked.partition(MARK)
    return before + after, before.count("\n") + 1, len(before) - before.rfind("\n")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda it: f"{it.plugin}-{it.code}-{it.says}")
def test_one_fault_is_told_once_and_exactly_where_it_is(fault: Fault, tmp_path: Path) -> None:
    folder = shutil.copytree(GOOD / fault.plugin, tmp_path / fault.plugin)
    text, line, column = _broken(fault, (folder / "plugin.toml").read_text(encoding="utf-8"))
    (folder / "plugin.toml").write_text(text, encoding="utf-8")

    diagnostics = check_file(folder / "plugin.toml").diagnostics

    at_the_mark = [it for it in diagnostics if (it.line, it.column) == (line, column)]
    assert [it.code for it in at_the_mark] == [fault.code]
    assert fault.says in at_the_mark[0].message
    assert sorted(it.code for it in diagnostics) == sorted([fault.code, *fault.also])
