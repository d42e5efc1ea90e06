"""Faults that people reported of comparable systems, asked through the whole of memory-search: each is right here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from talekeeper.errors import ParameterError
from talekeeper.testing import Host

MANIFEST = """
[plugin]
id = "notes"
version = "1.0"
api = 1
summary = "Notes."

[contributes.data.notes]
schema = "notes.schema.json"
search = { text = "body" }
"""
SCHEMA = '{"type": "object", "required": ["body"], "properties": {"body": {"type": "string"}}}'


@pytest.fixture
def host(talekeeper_host: Host, tmp_path: Path) -> Host:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "plugin.toml").write_text(MANIFEST, "utf-8")
    (folder / "notes.schema.json").write_text(SCHEMA, "utf-8")
    talekeeper_host.add(folder)
    return talekeeper_host


@dataclass(frozen=True)
class Case:
    """Notes by key, a question, and what its answer is: keys that begin it, and how many there are in all."""

    notes: Mapping[str, str]
    query: str
    begins: tuple[str, ...]
    count: int | None = None


def case(name: str, query: str, begins: str, count: int | None = None, **notes: str) -> object:
    keys = tuple(begins.split())
    return pytest.param(Case(notes, query, keys, len(keys) if count is None else count), id=name)


CASES = [
    case("japanese", "しりとり", "a", a="昼休みに成語しりとりをした", b="明日は雨が降るらしい"),
    case("korean", "끝말잇기", "a", a="어제 끝말잇기 놀이를 했다", b="모레는 도서관에 간다"),
    case("chinese", "成语接龙", "a", a="晚饭后玩成语接龙游戏", b="明天去图书馆还书"),
    case("by-its-parts", "用户身份", "a b", a="先检查用户身份证", b="用户列表"),
    case("latin-in-chinese", "itgc", "a", a="第二步重跑gen-itgc后引用清零，已验证", b="今天天气很好"),
    case("number-in-chinese", "50", "a", a="第二步重跑后50条悬空引用清零", b="今天天气很好"),
    case("accents-any-case", "CAFÉ", "a", a="They saw Zoë at the cafe\u0301.", b="They saw her at the pier."),
    case("accents-not-typed", "jose letter", "a", a="José burnt the letter.", b="Nobody was there."),
    case("colon-is-no-syntax", "memory:safe", "a", a="memory:safe mode had been on", b="nothing here"),
    case("open-quote-is-no-syntax", 'say "hi', "a", a="he would say hi at dusk", b="nothing here"),
    case("and-is-no-syntax", "foo AND", "a", a="an evening with foo fighters", b="nothing here"),
    case("parenthesis-is-no-syntax", "(python", "a", a="we are learning python", b="nothing here"),
    case("hyphen-is-not-not", "pre-edit", "a", a="keep the pre-edit backup", b="nothing here"),
    case("version", "20.04", "a", 1, a="Ubuntu 20.04 runs on the old box", b="Ubuntu 24.10 on the new box"),
    case("punctuation-only", "？……", "", 0, a="hello there"),
    case(
        "a-name-outweighs-everyday-words",
        "what did the guard tell us of Mira",
        "b",
        4,
        a="The guard asked about the weather and the road.",
        b="Mira hid the silver key under the third step of the bell tower.",
        c="The guard said that the road to the harbour is closed.",
        d="A merchant sold the guard a loaf of bread.",
    ),
    case("possessive-and-plural", "Mira's keys", "a", a="Mira hid the silver key.", b="The harbour is closed."),
    case("one-character", "剑", "a", a="他拔出了剑。", b="她收起了弓。"),
    case("full-width", "abc123", "a", a="型号写着ＡＢＣ１２３", b="型号写着XYZ"),
    case("half-width-katakana", "ｶﾀｶﾅ", "a", a="カタカナの看板があった", b="ひらがなの手紙"),
    case("two-letters", "AI", "a", a="The AI shut the gate.", b="The porter shut the gate."),
    case("thai", "กุญแจ", "a", a="เขาซ่อนกุญแจไว้ใต้บันได", b="พรุ่งนี้ฝนจะตก"),
    case(
        "long-is-not-last",
        "where did Halvard bury the charter",
        "long",
        4,
        long="By dusk the wagons stood at the ford, and while their drivers quarrelled over the price of salt and "
        "an old woman counted her rings of copper, Halvard whispered to me that he had buried the charter under the "
        "cracked millstone behind his brother's barn, and that nobody but the miller's deaf son had watched him do it.",
        laughed="Halvard laughed.",
        read="The charter was read aloud at the feast.",
        shrugged="The miller shrugged at Halvard.",
    ),
    case("emoji-beside-a-word", "apples", "a", a="He painted a ⭐ on the crate 🍎apples", b="An empty crate"),
    case(
        "the-same-text-twice-is-one-result",
        "Roland violin",
        "a",
        2,
        a="Roland plays the violin on Sundays.",
        b="Roland plays the violin on Sundays.",
        c="Roland bought a boat.",
    ),
]


@pytest.mark.parametrize("one", CASES)
def test_the_answer_is_right(host: Host, one: Case) -> None:
    host.records("notes", {key: {"body": body} for key, body in one.notes.items()})

    answer = host.search(one.query)

    found = [hit.id for hit in answer.results]
    assert tuple(found[: len(one.begins)]) == one.begins
    assert len(found) == one.count


def test_an_empty_query_is_an_error_of_the_parameter(host: Host) -> None:
    host.records("notes", [{"body": "hello there"}])

    with pytest.raises(ParameterError) as caught:
        host.search("")

    assert caught.value.field == "query"


def test_a_fresh_home_without_a_model_finds_all_it_was_given(host: Host) -> None:
    host.records("notes", [{"body": f"the {colour} lantern"} for colour in ("red", "green", "blue")])

    answer = host.search("lantern")

    assert (answer.mode, answer.degraded, answer.searched, len(answer.results)) == ("lexical", "", 3, 3)
