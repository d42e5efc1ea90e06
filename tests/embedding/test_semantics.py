"""Search by meaning: vectors follow their passages, answers say how they were found, and nothing breaks a search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from talekeeper.db import Tx
from talekeeper.embedding import EmbeddingProvider
from talekeeper.errors import BadReply, Cancelled, HeldAcrossCall, ModelUnreachable
from talekeeper.home import Home
from talekeeper.manifest import Namespace, SearchTable
from talekeeper.memory_search import read_question, search_memory
from talekeeper.models import Models, ProviderSettings
from talekeeper.story import Address, Draft, Scope

CONCEPTS = ({"doctor", "physician", "healer"}, {"ship", "boat", "vessel"}, {"bread", "food", "cheese"})
NOTES = Namespace(plugin="_test", name="notes", search=SearchTable(text=("body",), title="name"))
STORY = Address("harbour", "low-house")


class Encoder:
    """Sees what words stand for: synonyms lie together, everything else apart. Counts what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.fault: Exception | None = None

    def __call__(self, texts: Sequence[str], model: str) -> list[list[float]]:
        if self.fault is not None:
            raise self.fault
        self.asked += texts
        return [self.vector(text) for text in texts]

    def vector(self, text: str) -> list[float]:
        words = {word.strip(".,:?!") for word in text.lower().split()}
        return [float(bool(words & concept)) for concept in CONCEPTS] + [0.1 + len(text) % 7 / 100]


@pytest.fixture
def encoder() -> Encoder:
    return Encoder()


@pytest.fixture
def home(tmp_path: Path, encoder: Encoder) -> Iterator[Home]:
    with Home.open(tmp_path / "home", tracing=False) as home:
        register(home, encoder)
        home.story.sessions.create(STORY.workspace, session_id=STORY.session)
        yield home


def register(home: Home, encoder: Encoder, version: str = "1") -> None:
    home.providers["concepts"] = EmbeddingProvider("concepts", version, encoder, lambda: ["small"])
    home.use_models(Models(provided=ProviderSettings("concepts", batch=2)))


def tell(home: Home, *texts: str) -> list[str]:
    drafts = [Draft("narrator", text, speaker="Mira") for text in texts]
    return [message.id for message in home.story.messages.append(STORY, drafts)]


def ask(home: Home, query: str, **more: Any) -> dict[str, Any]:
    return search_memory(home.services, STORY, read_question({"query": query}), **more).as_json()


def found(home: Home, query: str) -> list[str]:
    return [result["text"] for result in ask(home, query)["results"]]


def vectors(home: Home) -> int:
    return int(home.db.read(lambda tx: tx.rows("SELECT count(*) FROM vector WHERE length(data) > 0"))[0][0])


TEXTS = ("The physician came at noon.", "A storm took the vessel.", "We ate cheese.", "Nobody knows the way.")


def test_a_passage_is_found_by_what_it_means(home: Home) -> None:
    tell(home, *TEXTS)

    before = ask(home, "Which doctor?")
    made = home.semantics.embed(STORY)
    after = ask(home, "Which doctor?", explain=True)

    assert before["results"] == []
    assert before["mode"] == "lexical"
    assert "4 of 4 passages were searched by words alone" in before["degraded"]
    assert made == len(TEXTS)
    assert after["mode"] == "hybrid"
    assert "degraded" not in after
    first = after["results"][0]
    assert first["text"] == TEXTS[0]
    assert first["closeness"]["rank_by_meaning"] == 1
    assert first["closeness"]["rank_by_words"] is None
    assert first["closeness"]["adds"] == pytest.approx(first["score"])


def test_nothing_found_says_that_meaning_was_asked_too(home: Home) -> None:
    tell(home, TEXTS[0])
    home.semantics.embed(STORY)

    answer = ask(home, "zeppelins")

    assert (answer["results"], answer["mode"]) == ([], "hybrid")
    assert answer["hint"].startswith("no passage shares a word with the query or comes near it in meaning")


def test_words_and_meaning_add_up(home: Home) -> None:
    tell(home, *TEXTS, "The doctor is asleep.")
    home.semantics.embed(STORY)

    first = ask(home, "Which doctor is asleep?", explain=True)["results"][0]

    assert first["text"] == "The doctor is asleep."
    assert first["closeness"]["rank_by_words"] == 1
    assert sum(term["contribution"] for term in first["why"]) + first["closeness"]["adds"] == pytest.approx(
        first["score"]
    )


def test_what_is_edited_is_found_by_what_it_means_now(home: Home) -> None:
    first, *_ = tell(home, *TEXTS)
    home.semantics.embed(STORY)

    home.story.messages.edit(STORY, first, "A vessel from the south.")
    between = found(home, "Any boat?")
    home.semantics.embed(STORY)

    assert "A vessel from the south." not in between[:1]
    assert vectors(home) == len(TEXTS)
    assert "The physician came at noon." not in found(home, "Which doctor?")
    assert "A vessel from the south." in found(home, "Any boat?")


@pytest.mark.parametrize("act", ["hide", "delete"])
def test_what_is_taken_out_loses_its_vector_at_once(home: Home, act: str) -> None:
    first, *_ = tell(home, *TEXTS)
    home.semantics.embed(STORY)

    getattr(home.story.messages, act)(STORY, first)

    assert vectors(home) == len(TEXTS) - 1
    assert TEXTS[0] not in found(home, "Which doctor?")


def test_a_forgotten_record_has_no_vector_and_a_late_one_is_not_written(home: Home) -> None:
    scope = Scope(STORY.workspace, session=STORY.session)
    home.story.records.put(NOTES, scope, "k", {"body": "The physician drinks.", "name": "Hesper"}, person=True)
    encoder = home.semantics.encoder()
    assert encoder is not None
    waiting = home.story.vectors.waiting(scope, encoder.fingerprint)
    assert waiting is not None

    home.story.records.forget(NOTES, scope, "k")
    kept = home.story.vectors.keep(waiting.part, encoder.fingerprint, dict.fromkeys(waiting.texts, (1.0, 0.0)))

    assert list(waiting.texts.values()) == ["Hesper: The physician drinks."]
    assert kept == []
    assert vectors(home) == 0


@pytest.mark.parametrize("person", [pytest.param(True, id="by hand"), pytest.param(False, id="in the story")])
def test_what_its_property_switches_off_is_in_no_vector(home: Home, encoder: Encoder, *, person: bool) -> None:
    candidates = replace(NOTES, name="candidates", search=SearchTable(text=("body",), when="approved"))
    scope = Scope(STORY.workspace, session=STORY.session)
    tell(home, *TEXTS)
    for key, approved in {"k": False, "l": True}.items():
        value = {"body": f"The physician {key}.", "approved": approved}
        home.story.records.put(candidates, scope, key, value, person=person)

    home.semantics.embed()

    assert vectors(home) == len(TEXTS) + 1
    assert "The physician k." not in encoder.asked


def test_forgetting_takes_the_vector_in_its_own_transaction(home: Home) -> None:
    scope = Scope(STORY.workspace, session=STORY.session)
    home.story.records.put(NOTES, scope, "k", {"body": "The physician drinks."}, person=True)
    home.semantics.embed()

    def forget(tx: Tx) -> int:
        home.story.records.forget(NOTES, scope, "k", tx=tx)
        return int(tx.rows("SELECT count(*) FROM vector")[0][0])

    assert vectors(home) == 1
    assert home.story.write(forget, name="forget") == 0


def test_a_deleted_session_leaves_no_vector(home: Home) -> None:
    tell(home, *TEXTS)
    home.semantics.embed()

    home.delete_session(STORY)

    assert home.db.read(lambda tx: tx.rows("SELECT count(*) FROM vector")) == [(0,)]


def test_what_another_branch_tells_is_not_found(home: Home) -> None:
    home.story.messages.append(STORY, [Draft("player", "Who comes?"), Draft("narrator", "The physician came.")])
    home.semantics.embed(STORY)

    home.story.tree.undo(STORY)
    home.story.messages.append(
        STORY, [Draft("player", "I wait."), Draft("narrator", "We ate."), Draft("narrator", "It rained.")]
    )
    home.semantics.embed(STORY)

    assert "The physician came." not in found(home, "Which doctor?")


def test_vectors_of_another_version_count_no_more_and_are_made_anew(home: Home, encoder: Encoder) -> None:
    tell(home, *TEXTS)
    home.semantics.embed(STORY)
    with Home.open(home.folder, tracing=False) as other:
        register(other, encoder, version="2")
        before = ask(other, "Which doctor?")
        standing = other.semantics.status()
        made = other.semantics.embed(STORY)
        after = ask(other, "Which doctor?")

    assert (before["mode"], standing.embedded) == ("lexical", 0)
    assert made == len(TEXTS)
    assert (after["mode"], after["results"][0]["text"]) == ("hybrid", TEXTS[0])
    assert vectors(home) == len(TEXTS)


def test_an_index_made_anew_keeps_the_vectors_of_its_passages(home: Home, encoder: Encoder) -> None:
    tell(home, *TEXTS)
    home.semantics.embed()
    before = ask(home, "Which doctor?", explain=True)
    asked = list(encoder.asked)

    home.story.index.rebuild()

    assert home.semantics.status().embedded == len(TEXTS)
    assert home.semantics.embed() == 0
    assert ask(home, "Which doctor?", explain=True)["results"] == before["results"]
    assert encoder.asked == asked


def test_an_encoder_that_fails_is_told_of_and_words_are_searched(home: Home, encoder: Encoder) -> None:
    tell(home, *TEXTS)
    home.semantics.embed(STORY)
    encoder.fault = ModelUnreachable("no answer in time", where="concepts")

    answer = ask(home, "vessel")

    assert answer["results"][0]["text"] == TEXTS[1]
    assert answer["mode"] == "lexical"
    assert "the question could not be embedded: concepts: no answer in time" in answer["degraded"]


def test_a_failed_encoder_is_left_alone_for_a_while(home: Home, encoder: Encoder) -> None:
    tell(home, *TEXTS)
    encoder.fault = ModelUnreachable("no answer in time")
    ask(home, "vessel")
    encoder.fault = None

    answer = ask(home, "vessel")

    assert encoder.asked == []
    assert "no answer in time" in answer["degraded"]


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(list[Any](), id="none"),
        pytest.param([list[float]()], id="empty"),
        pytest.param([[1.0], [2.0]], id="too many"),
        pytest.param([[float("nan")]], id="nan"),
        pytest.param([["a"]], id="words"),
        pytest.param("rubbish", id="text"),
    ],
)
def test_rubbish_of_a_provider_is_its_fault(home: Home, given: Any) -> None:
    def embed(texts: Sequence[str], model: str) -> Any:
        return given

    home.providers["rubbish"] = EmbeddingProvider("rubbish", "1", embed, lambda: ["m"])
    home.use_models(Models(provided=ProviderSettings("rubbish")))
    tell(home, TEXTS[0])

    answer = ask(home, "physician")
    with pytest.raises(BadReply):
        home.semantics.embed(STORY)

    assert [result["text"] for result in answer["results"]] == [TEXTS[0]]
    assert "rubbish gave no vectors for 1 texts" in answer["degraded"]
    assert vectors(home) == 0


def test_what_was_broken_off_goes_on_where_it_was(home: Home, encoder: Encoder) -> None:
    tell(home, *TEXTS)

    class AfterOneBatch:
        def is_set(self) -> bool:
            return bool(encoder.asked)

        def wait(self, timeout: float | None = None, /) -> bool:
            return self.is_set()

    with pytest.raises(Cancelled):
        home.semantics.embed(STORY, cancel=AfterOneBatch())
    kept = vectors(home)
    made = home.semantics.embed(STORY)

    assert kept == 2
    assert made == 2
    assert len(encoder.asked) == len(set(encoder.asked)) == len(TEXTS)


def test_what_is_embedded_is_not_looked_at_again(home: Home, encoder: Encoder) -> None:
    tell(home, *TEXTS)
    home.semantics.embed(STORY)

    tell(home, "A fifth.")
    made = home.semantics.embed(STORY)

    assert made == 1
    assert encoder.asked[-1] == "Mira: A fifth."


def test_only_so_many_are_embedded_at_once(home: Home) -> None:
    tell(home, *TEXTS)

    assert home.semantics.embed(STORY, limit=2) == 2
    assert home.semantics.status().embedded == 2


def test_a_question_is_embedded_once(home: Home, encoder: Encoder) -> None:
    tell(home, *TEXTS)
    home.semantics.embed(STORY)

    for _ in range(3):
        ask(home, "Which doctor?")

    assert encoder.asked.count("Which doctor?") == 1


def test_nothing_is_embedded_while_a_write_is_open(home: Home) -> None:
    def write(tx: Tx) -> None:
        home.semantics.embed_question(["Which doctor?"])

    with pytest.raises(HeldAcrossCall):
        home.story.write(write, name="a write")
    with pytest.raises(HeldAcrossCall):
        home.story.write(lambda tx: home.semantics.embed(STORY), name="a write")


def test_no_write_is_open_while_passages_are_embedded(
    home: Home, encoder: Encoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(home, *TEXTS)
    written: list[int] = []
    plain = encoder.vector

    def vector(text: str) -> list[float]:
        # Another thread's write would wait for ever.
        written.append(len(tell(home, "Meanwhile.")) if not written else 0)
        return plain(text)

    monkeypatch.setattr(encoder, "vector", vector)

    assert home.semantics.embed(STORY) == len(TEXTS) + 1


def test_jobs_of_a_turn_embed_what_it_told(home: Home) -> None:
    tell(home, *TEXTS)

    home.jobs().run(STORY)

    assert vectors(home) == len(TEXTS)


def test_jobs_go_on_when_an_encoder_fails(home: Home, encoder: Encoder) -> None:
    tell(home, *TEXTS)
    encoder.fault = ModelUnreachable("no answer in time")

    assert home.jobs().run(STORY) == []


def test_without_an_encoder_nothing_is_said_of_meaning(tmp_path: Path) -> None:
    with Home.open(tmp_path / "plain", tracing=False) as home:
        home.story.sessions.create(STORY.workspace, session_id=STORY.session)
        tell(home, *TEXTS)

        made = home.semantics.embed()
        answer = ask(home, "vessel")

    assert made == 0
    assert answer["mode"] == "lexical"
    assert "degraded" not in answer
