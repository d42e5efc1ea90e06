"""Contribution points are data: what the kernel registers, and how a ninth joins."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import tomli
from jsonschema import Draft202012Validator
from pydantic import Field
from talekeeper.manifest.codes import SAME_NAME
from talekeeper.manifest.diagnostic import Finding
from talekeeper.manifest.loader import examine
from talekeeper.manifest.model.entries import SHAPES, Entry, Line, LocalName
from talekeeper.manifest.model.manifest import generated_schema
from talekeeper.manifest.package import Folder
from talekeeper.manifest.rules.contributions import POINTS
from talekeeper.manifest.rules.point import Point, RuleContext

ROOT = Path(__file__).parent.parent.parent


class Greeting(Entry):
    """A line the narrator may open a session with."""

    id: LocalName
    text: Annotated[Line, Field(description="What is said.")]


def _said_once(context: RuleContext) -> Iterator[Finding]:
    seen: set[str | None] = set()
    for entry in context.entries:
        if entry.text("text") in seen:
            yield Finding(SAME_NAME, entry.at("text"), "this greeting is there already")
        seen.add(entry.text("text"))


NINTH = Point("greetings", "Lines to open a session with.", "greeting", lambda: list[Greeting], (_said_once,), "id")
WITH_NINTH = {**POINTS, NINTH.name: NINTH}


def test_the_kernel_registers_the_eight() -> None:
    assert list(POINTS) == ["data", "tools", "prompt", "jobs", "settings", "commands", "importers", "providers"]


def test_each_point_has_a_shape() -> None:
    assert list(SHAPES) == list(POINTS)


def test_a_ninth_point_is_checked_like_the_eight(folder: Path, head: str) -> None:
    greetings = (
        '[[contributes.greetings]]\nid = "hello"\n{}\n[[contributes.greetings]]\nid = "again"\ntext = "Well met."\n'
    )
    broken, doubled, whole = (
        (head + greetings.format(line)).encode() for line in ('txt = "Hello."', 'text = "Well met."', 'text = "Hello."')
    )

    told = [
        [
            f"{it.line} {it.code} {it.hint}"
            for it in examine(raw, Folder(folder), "plugin.toml", points=WITH_NINTH).diagnostics
        ]
        for raw in (broken, doubled)
    ]
    checked = examine(whole, Folder(folder), "plugin.toml", points=WITH_NINTH)
    without = examine(whole, Folder(folder), "plugin.toml")

    assert told == [['8 TK221 did you mean "text"?  What is said.'], ["11 TK210 "]]
    assert checked.manifest
    assert [it["text"] for it in checked.manifest.contributes["greetings"]] == ["Hello.", "Well met."]
    assert [it.code for it in without.diagnostics] == ["TK201"]


def test_a_ninth_point_is_in_the_schema(head: str) -> None:
    with_ninth: Any = Draft202012Validator(generated_schema(WITH_NINTH))
    without: Any = Draft202012Validator(generated_schema())
    document = tomli.loads(head + '[[contributes.greetings]]\nid = "hello"\ntext = "Hello."\n')

    assert with_ninth.is_valid(document)
    assert not without.is_valid(document)


def test_the_ninth_of_the_documentation_is_this_one() -> None:
    page = (ROOT / "docs" / "why" / "contribution-points.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    told: dict[str, Any] = {"__name__": "greetings"}

    # The annotations of the page are not postponed as those of this module are.
    exec(compile(block, "contribution-points.md", "exec", dont_inherit=True), told)  # noqa: S102 - the page is ours

    point = told["GREETINGS"]
    assert isinstance(point, Point)
    assert json.dumps(generated_schema({**POINTS, point.name: point})["$defs"]["Greeting"]["properties"]["text"])
    assert point.name == NINTH.name


def test_the_manifest_of_the_reference_page_holds(folder: Path) -> None:
    page = (ROOT / "docs" / "reference" / "manifest.md").read_text(encoding="utf-8")
    (example, *_) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    for name in ("roll.schema.json", "check.schema.json"):
        (folder / name).write_text('{"type": "object"}', encoding="utf-8")
    (folder / "lore").mkdir()
    (folder / "lore" / "coast.jsonl").write_text('{"id": "ice", "body": "Ice."}\n', encoding="utf-8")

    checked = examine(example.encode(), Folder(folder), "plugin.toml")

    assert [str(it) for it in checked.diagnostics] == []
