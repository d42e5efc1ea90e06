"""Every code: its rule, its section, its bad fixture and its golden text."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import talekeeper
import tomli
from talekeeper import __version__
from talekeeper.cli import with_code
from talekeeper.manifest import codes
from talekeeper.manifest.codes import Code
from talekeeper.manifest.report import as_text
from talekeeper.manifest.targets import check_target

HERE = Path(__file__).parent
GOLDEN = HERE / "golden"
DOC = HERE.parent.parent / "docs" / "reference" / "diagnostics.md"


@pytest.mark.parametrize("code", codes.BY_ID)
def test_the_fixture_breaks_its_rule_alone_and_says_so_as_promised(code: str, bad: Callable[[str], Path]) -> None:
    target = bad(code)

    result = check_target(str(target))
    result = with_code(result) if code.startswith("TK5") else result

    told = "\n".join(as_text([result])).replace(f"Talekeeper {__version__}", "Talekeeper 0.1.0") + "\n"
    if os.environ.get("GOLDEN") == "write":
        (GOLDEN / f"{code}.txt").write_text(told, encoding="utf-8")
    assert {it.code for it in result.diagnostics} == {code}
    assert told == (GOLDEN / f"{code}.txt").read_text(encoding="utf-8")


def test_rules_sections_fixtures_and_golden_texts_are_the_same_set() -> None:
    sections = set(re.findall(r"^### (TK\d+)$", DOC.read_text(encoding="utf-8"), re.MULTILINE))
    fixtures = {it.stem for it in (HERE / "bad").iterdir() if it.name.startswith("TK")}
    golden = {it.stem for it in GOLDEN.iterdir()}

    assert set(codes.BY_ID) == sections == fixtures == golden


def test_every_complaint_of_authors_names_codes_that_exist() -> None:
    page = DOC.read_text(encoding="utf-8").rpartition("## What authors complain of elsewhere")[2]
    rows = [line for line in page.splitlines() if line.startswith("| ")][2:]

    assert len(rows) == 15
    assert {code for row in rows for code in re.findall(r"TK\d+", row)} <= set(codes.BY_ID)
    assert [row for row in rows if not re.search(r"TK\d+|held equal by tests", row)] == []


def test_every_code_is_used_by_the_kernel() -> None:
    kernel = Path(talekeeper.__file__).parent
    source = "\n".join(it.read_text(encoding="utf-8") for it in kernel.rglob("*.py") if it.name != "codes.py")

    names = {it: name for name, it in vars(codes).items() if isinstance(it, Code)}

    assert [name for name in names.values() if not re.search(rf"\b{name}\b", source)] == []


def test_codes_count_upwards_and_each_has_its_texts() -> None:
    texts = tomli.loads(Path(codes.__file__).with_name("codes.toml").read_text(encoding="utf-8"))

    assert list(codes.BY_ID) == sorted(codes.BY_ID) == list(texts)


def test_the_texts_take_their_numbers_from_the_limits() -> None:
    shown = "\n".join(it.rule + it.cure for it in codes.BY_ID.values())

    assert set(re.findall(r"\$\w+", shown)) == {"$defs", "$ref"}
    assert f"{codes.KEY_LENGTH} characters" in codes.SETTING_KEY.rule


@pytest.mark.parametrize("code", codes.BY_ID.values(), ids=lambda it: it.id)
def test_a_code_explains_itself_in_sentences(code: Code) -> None:
    assert not code.title.endswith(".")
    assert code.rule.endswith(".")
    assert code.cure.endswith(".")
    assert "^" not in code.rule + code.cure
