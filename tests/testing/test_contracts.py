"""The tests that authors inherit: they pass for what is right and name what is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any, ClassVar
from xml.etree import ElementTree as ET

import pytest
from talekeeper.testing import PluginContract

WritePlugin = Callable[..., Path]
RunPytest = Callable[..., CompletedProcess[str]]

EXAMPLES = Path(__file__).parents[2] / "examples"


class TestLorebook(PluginContract):
    """Its seed is its sample."""

    plugin = EXAMPLES / "lorebook" / "talekeeper_lorebook"


class TestRumours(PluginContract):
    plugin = EXAMPLES / "rumours"
    samples: ClassVar = {"heard": [{"text": "The ferryman is dead.", "says": "the baker", "truth": "unknown"}]}


class TestInstalled(PluginContract):
    plugin = "memory"
    samples: ClassVar = {
        "facts": [{"text": "Mira promised to come back."}],
        "cards": [{"name": "望乡石", "body": "山口有一块平石头，叫望乡石。"}],
        "blocks": [{"text": "Mira waits at the bridge."}],
        "bank": [{"text": "Mira hid the key under the third step."}],
        "summaries": [{"text": "Mira came to the harbour and hid the key."}],
    }


def test_a_class_that_names_no_plugin_is_refused() -> None:
    with pytest.raises(TypeError, match="Forgetful does not say where the plugin is"):
        type("Forgetful", (PluginContract,), {})


UNSEARCHED = '[contributes.data.entries]\nschema = "entries.schema.json"\nsearch = { txt = "body" }\n'
OFTEN_ABSENT = '[contributes.data.entries]\nschema = "entries.schema.json"\nsearch = { text = "name" }\n'
SWITCHED = '[contributes.data.entries]\nschema = "entries.schema.json"\nsearch = { text = "body", when = "enabled" }\n'
LAMP = {"entries": [{"body": "a lamp"}]}

MANIFEST, CODE, KEPT, FOUND = (
    "test_nothing_can_be_said_against_the_manifest",
    "test_the_code_registers_what_the_manifest_declares",
    "test_sample_records_are_kept_as_given",
    "test_records_are_found_by_a_word_of_their_text",
)
EVERY = {MANIFEST, CODE, KEPT, FOUND}


@dataclass(frozen=True)
class Case:
    """A plugin, its samples, which of the tests fail then, and what is told."""

    change: dict[str, str]
    samples: dict[str, Any]
    failing: set[str] = field(default_factory=set[str])
    told: str = ""


CASES = {
    "right": Case({}, LAMP),
    "switched-off": Case({"body": SWITCHED}, {"entries": [{"body": "a lamp", "enabled": False}]}),
    "common-words": Case({}, {"entries": [{"body": f"lamp oil{number}"} for number in range(25)]}),
    "manifest": Case({"body": UNSEARCHED}, {}, EVERY, 'did you mean "text"'),
    "code": Case({"head": 'module = "code"\n', "code__py": "lamp"}, LAMP, {CODE, KEPT, FOUND}, "name 'lamp' is not"),
    "no-samples": Case({}, {}, {KEPT}, "has neither samples nor a seed"),
    "misfit": Case({}, {"entries": [{"body": 3}]}, {KEPT, FOUND}, "/entries/body: must be of type string"),
    "stranger": Case({}, {"entrys": [{"body": "a lamp"}]}, {KEPT, FOUND}, "a namespace that is not declared"),
    "no-word": Case({}, {"entries": [{"body": "…"}]}, {FOUND}, "has no word to search for"),
    "often-absent": Case({"body": OFTEN_ABSENT}, LAMP, {MANIFEST, FOUND}, "and one without it is never found"),
}


def test_what_is_right_passes_and_what_is_wrong_is_named(
    tmp_path: Path, write_plugin: WritePlugin, run_pytest: RunPytest
) -> None:
    text = "from pathlib import Path\nfrom talekeeper.testing import PluginContract\n"
    for name, case in CASES.items():
        write_plugin(tmp_path, name, **case.change)
        text += f"\nclass Test_{name.replace('-', '_')}(PluginContract):\n"
        text += f"    plugin = Path({name!r}).resolve()\n    samples = {case.samples!r}\n"

    run_pytest(tmp_path, text, "--junitxml=report.xml")

    told: dict[str, dict[str, str]] = {name: {} for name in CASES}
    for test in ET.parse(tmp_path / "report.xml").iter("testcase"):  # noqa: S314 - pytest's own file
        name = test.attrib["classname"].partition(".Test_")[2].replace("_", "-")
        told[name] |= {test.attrib["name"]: "".join(part.text or "" for part in test.iter("failure"))}
    assert {name: set(tests) for name, tests in told.items()} == dict.fromkeys(CASES, EVERY)
    failing = {name: {test for test, text in tests.items() if text} for name, tests in told.items()}
    assert failing == {name: case.failing for name, case in CASES.items()}
    assert {name: case.told for name, case in CASES.items() if case.told not in "".join(told[name].values())} == {}
