"""Texts and queries meant to break the index. Growth is shown by counting work, which is the same on every machine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pytest
from talekeeper.db import Database, Row, Tx
from talekeeper.search import Index, Kind, PartScope, Passage, Query, Ranking, Source, maintain_index, snippet
from talekeeper.text import document_terms, query_terms

EVERYTHING = 2**31 - 1
MEGABYTE = 1_000_000

# A sentence, and a word of it, in every script.
SCRIPTS = {
    "latin": ("The old lantern hangs over the harbour gate", "lantern"),
    "greek": ("το παλιό φανάρι κρέμεται στην πύλη", "φανάρι"),
    "cyrillic": ("старый фонарь висит над воротами", "фонарь"),
    "armenian": ("հին լապտերը կախված է", "լապտերը"),
    "georgian": ("ძველი ფარანი კიდია", "ფარანი"),
    "hebrew": ("הפנס הישן תלוי מעל השער", "הפנס"),
    "arabic": ("المصباح القديم معلق فوق البوابة", "المصباح"),
    "syriac": ("ܫܠܡܐ ܥܠܡܐ", "ܥܠܡܐ"),
    "thaana": ("ދިވެހި ރާއްޖެ", "ރާއްޖެ"),
    "devanagari": ("पुराना दीपक फाटक पर लटकता है", "दीपक"),
    "bengali": ("পুরানো লণ্ঠন ফটকে ঝুলছে", "লণ্ঠন"),
    "gurmukhi": ("ਪੁਰਾਣੀ ਲਾਲਟੈਣ ਲਟਕਦੀ ਹੈ", "ਲਾਲਟੈਣ"),
    "gujarati": ("જૂનું ફાનસ લટકે છે", "ફાનસ"),
    "odia": ("ପୁରୁଣା ଲଣ୍ଠନ ଝୁଲୁଛି", "ଲଣ୍ଠନ"),
    "tamil": ("பழைய விளக்கு தொங்குகிறது", "விளக்கு"),
    "telugu": ("పాత లాంతరు వేలాడుతోంది", "లాంతరు"),
    "kannada": ("ಹಳೆಯ ಲಾಟೀನು ತೂಗುತ್ತದೆ", "ಲಾಟೀನು"),
    "malayalam": ("പഴയ വിളക്ക് തൂങ്ങുന്നു", "വിളക്ക്"),
    "sinhala": ("පැරණි පහන එල්ලෙයි", "පහන"),
    "thai": ("โคมไฟเก่าแขวนอยู่เหนือประตู", "โคมไฟ"),
    "lao": ("ໂຄມໄຟເກົ່າຫ້ອຍຢູ່", "ໂຄມໄຟ"),
    "tibetan": ("སྒྲོན་མེ་རྙིང་པ", "སྒྲོན"),
    "burmese": ("မီးအိမ်ဟောင်း", "မီးအိမ်"),
    "khmer": ("ចង្កៀងចាស់", "ចង្កៀង"),
    "ethiopic": ("አሮጌ ፋኖስ ተሰቅሏል", "ፋኖስ"),
    "cherokee": ("ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ", "ᏣᎳᎩ"),
    "mongolian": ("ᠮᠣᠩᠭᠣᠯ ᠬᠡᠯᠡ", "ᠮᠣᠩᠭᠣᠯ"),
    "hangul": ("오래된 등불이 걸려 있다", "등불"),
    "kana": ("ふるいランタンがかかっている", "ランタン"),
    "han": ("旧灯笼挂在港口的门上", "灯笼"),
}


class Counting(Tx):
    """A transaction that counts what is asked of it and the rows it gives back."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        self.statements = 0
        self.read = 0

    def rows(self, sql: str, params: Sequence[Any] = ()) -> list[Row]:
        self.statements += 1
        found = self._tx.rows(sql, params)
        self.read += len(found)
        return found

    def one(self, sql: str, params: Sequence[Any] = ()) -> Row | None:
        self.statements += 1
        return self._tx.one(sql, params)

    def run(self, sql: str, params: Sequence[Any] = ()) -> int:
        self.statements += 1
        return self._tx.run(sql, params)

    def run_many(self, sql: str, params: Iterable[Sequence[Any]]) -> None:
        self.statements += 1
        self._tx.run_many(sql, params)


def statements_of(db: Database, work: Callable[[Tx], object]) -> int:
    """The statements that some work takes."""
    counting: list[Counting] = []

    def count(tx: Tx) -> None:
        counting.append(Counting(tx))
        work(counting[0])

    db.write(count, name="count")
    return counting[0].statements


@pytest.fixture
def fill(db: Database, index: Index, part: int, message: Callable[..., Passage]) -> Callable[[Iterable[str]], None]:
    """Adds texts as messages, behind those already there, and does the maintenance that is due."""
    depths = iter(range(1_000_000))

    def add_all(texts: Iterable[str]) -> None:
        passages = [message(text, next(depths)) for text in texts]
        db.write(lambda tx: [index.add(tx, part, passage) for passage in passages], name="add")
        maintain_index(db)

    return add_all


@pytest.fixture
def ask(db: Database, index: Index, part: int) -> Callable[..., Ranking]:
    def search(text: str, *, depth: int = 5) -> Ranking:
        return db.read(lambda tx: index.search(tx, asked(part, text, depth)))

    return search


def asked(part: int, text: str, depth: int) -> Query:
    return Query((text,), (PartScope(part, {0: EVERYTHING}),), (Source(),), depth=depth, neighbours=False)


def keys(ranking: Ranking) -> list[str]:
    return [hit.key for hit in ranking.hits]


def syllables(count: int) -> Iterator[str]:
    """Different words."""
    for number in range(count):
        yield "".join(chr(ord("a") + int(digit)) for digit in f"{number:06}") + "x"


def filler(count: int) -> list[str]:
    return [f"They talked of the weather and of number {number}." for number in range(count)]


def test_a_megabyte_in_one_message_is_found_and_quoted_in_part(
    fill: Callable[[Iterable[str]], None], ask: Callable[..., Ranking]
) -> None:
    long = "The rain went on over the moor. " * (MEGABYTE // 32) + "Nobody saw the heron."
    fill(["A heron stood there.", long, *filler(254)])

    found = ask("heron")

    assert keys(found) == ["m0", "m1"]
    assert keys(ask("moor")) == ["m1"]
    assert "heron" in snippet(long, "heron")


def test_a_message_of_a_hundred_thousand_words_is_found_by_each(
    fill: Callable[[Iterable[str]], None], ask: Callable[..., Ranking], db: Database, index: Index, part: int
) -> None:
    words = list(syllables(100_000))
    fill([" ".join(words), *filler(127)])

    found = [keys(ask(words[place])) for place in (0, 49_999, 99_999)]

    assert found == [["m0"]] * 3
    ((rows,),) = db.read(lambda tx: tx.rows("SELECT count(*) FROM posting"))
    others = document_terms(*filler(127)).counts
    assert rows == len({*document_terms(" ".join(words)).counts, *others})


def test_ten_thousand_equal_messages_are_one_answer_and_little_reading(
    fill: Callable[[Iterable[str]], None], db: Database, index: Index, part: int
) -> None:
    fill(["Nothing happened that night."] * 10_000)
    query = asked(part, "what happened that night", 5)
    db.read(lambda tx: index.search(tx, query))

    counting: list[Counting] = []

    def search(tx: Tx) -> Ranking:
        counting.append(Counting(tx))
        return index.search(counting[0], query)

    found = db.read(search)

    assert keys(found) == ["m9999"]
    assert found.searched == 10_000
    assert counting[0].read < 400


def test_a_query_of_five_thousand_characters_finds_what_shares_a_word(
    fill: Callable[[Iterable[str]], None], db: Database, index: Index, part: int
) -> None:
    fill(["The heron stood in the reeds.", *filler(300)])
    text = (" ".join(syllables(1_000))[:4_990] + " heron")[:5_000]
    counting: list[Counting] = []

    def search(tx: Tx) -> Ranking:
        counting.append(Counting(tx))
        return index.search(counting[0], asked(part, text, 5))

    found = db.read(search)

    assert keys(found) == ["m0"]
    assert len(query_terms(text)) > 600
    assert counting[0].statements < 15


def test_a_query_of_stop_words_only_looks_for_them(
    fill: Callable[[Iterable[str]], None], ask: Callable[..., Ranking]
) -> None:
    fill(["Where were you?", "Lanterns burned."])

    found = ask("where were you")

    assert keys(found) == ["m0"]
    assert keys(ask("of the and")) == []
    assert keys(ask("的了是")) == []


@pytest.mark.parametrize("text", ["", " \t\n", "?!…—", "\u200b\u200f\ufeff", "\ud800", "\0", "་", "ー" * 3])
def test_a_query_without_words_finds_nothing(
    fill: Callable[[Iterable[str]], None], ask: Callable[..., Ranking], text: str
) -> None:
    fill(["The heron stood in the reeds."])

    found = ask(text)

    assert found.hits == ()
    assert found.searched == 1


def test_every_script_finds_its_own_sentence_first(
    fill: Callable[[Iterable[str]], None], ask: Callable[..., Ranking]
) -> None:
    fill(sentence for sentence, _ in SCRIPTS.values())

    found = {script: keys(ask(word))[:1] for script, (_, word) in SCRIPTS.items()}

    assert found == {script: [f"m{place}"] for place, script in enumerate(SCRIPTS)}


def test_every_script_is_found_in_a_message_of_all(
    fill: Callable[[Iterable[str]], None], ask: Callable[..., Ranking]
) -> None:
    fill(["".join(f"{sentence}. " for sentence, _ in SCRIPTS.values()), "Nothing of it."])

    found = [keys(ask(word)) for _, word in SCRIPTS.values()]

    assert found == [["m0"]] * len(SCRIPTS)


@pytest.mark.parametrize(
    "mark", ["\u200e", "\u200f", "\u061c", "\u202b", "\u2067"], ids=["lrm", "rlm", "alm", "rle", "rli"]
)
@pytest.mark.parametrize("script", ["hebrew", "arabic", "syriac", "thaana"])
def test_signs_of_direction_do_not_matter(
    fill: Callable[[Iterable[str]], None], ask: Callable[..., Ranking], script: str, mark: str
) -> None:
    sentence, word = SCRIPTS[script]
    fill([mark.join(sentence), "Nothing of it."])

    found = ask(f"{mark}{word}{mark}")

    assert keys(found) == ["m0"]


@pytest.mark.parametrize("emoji", ["😀", "👩‍🚀", "🇩🇪", "👍🏽", "❤️"], ids=["face", "joined", "flag", "skin", "heart"])
def test_a_run_of_emoji_is_found_by_one_and_by_many(
    fill: Callable[[Iterable[str]], None], ask: Callable[..., Ranking], emoji: str
) -> None:
    fill([emoji * 10_000, "No picture."])

    found = ask(emoji)

    assert keys(found) == keys(ask(emoji * 5_000)) == ["m0"]


@pytest.mark.parametrize(
    "unit", ["rain ", "雨声", "ฝนตก", "😀", "बारिश ", "비가"], ids=["latin", "han", "thai", "emoji", "hindi", "hangul"]
)
def test_terms_grow_as_the_text_does(unit: str) -> None:
    lengths = [document_terms(unit * times).length for times in (1_000, 2_000, 4_000)]

    assert lengths[2] - lengths[1] == 2 * (lengths[1] - lengths[0])


def test_an_add_takes_four_statements_also_in_a_large_index_and_with_a_long_text(
    fill: Callable[[Iterable[str]], None], db: Database, index: Index, part: int, message: Callable[..., Passage]
) -> None:
    def statements(text: str, depth: int) -> int:
        return statements_of(db, lambda tx: index.add(tx, part, message(text, depth)))

    small = statements("The heron stood in the reeds.", 1_000_001)
    fill(filler(2_500))

    large = statements("The heron stood in the reeds.", 1_000_002)
    long = statements(" ".join(syllables(20_000)), 1_000_003)

    assert small == large == long == 4


def test_a_record_takes_six_statements_and_a_removal_seven(
    db: Database, index: Index, part: int, record: Callable[..., Passage]
) -> None:
    def remove(tx: Tx) -> int:
        return index.remove(tx, part, kind=Kind.RECORD, plugin="lore", namespace="entries", key="heron")

    db.write(lambda tx: index.add(tx, part, record("The first of its source.", "first")), name="add")

    added = statements_of(db, lambda tx: index.add(tx, part, record("The heron stood in the reeds.", "heron")))
    removed = statements_of(db, remove)

    assert (added, removed) == (6, 7)


def test_a_query_reads_the_rows_of_its_own_words_however_large_the_index(
    fill: Callable[[Iterable[str]], None], db: Database, part: int
) -> None:
    def rows_read() -> int:
        counted: list[Counting] = []
        index = Index()

        def search(tx: Tx) -> None:
            index.search(tx, asked(part, "weather", 5))
            counted.append(Counting(tx))
            index.search(counted[0], asked(part, "heron reeds", 5))

        db.read(search)
        return counted[0].read

    fill(["The heron stood in the reeds.", *filler(255)])
    small = rows_read()

    fill(filler(256 * 7))

    assert rows_read() == small
