from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from talekeeper.clock import FixedClock
from talekeeper.errors import InputError, NoModel
from talekeeper.models import NO_MODELS, Models, TimeLimits, find_local_servers, open_models
from talekeeper.models.secrets import EnvironmentKey, FileKey
from talekeeper.models.slots import BILLION, Price
from talekeeper.testing import ScriptedServer, Step, raw, say

Write = Callable[[str], Path]
NARRATOR = '[models.narrator]\nbase_url = "https://api.example/v1"\n'


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes the home's talekeeper.toml and gives the home."""

    def written(text: str) -> Path:
        (tmp_path / "talekeeper.toml").write_text(text, encoding="utf-8")
        return tmp_path

    return written


def test_every_key_of_a_slot_is_read(write: Write) -> None:
    home = write(
        """
        [models.narrator]
        base_url = "https://api.example/v1/"
        model = "teller"
        key_file = "keys/api"
        context = 32768
        reply = 700
        timeouts = { connect = 1, first = 2.5, total = 90 }
        retries = 0
        tools = false
        json = "object"
        stream = false
        usage = false
        reply_parameter = "max_completion_tokens"
        batch = 8
        thinks = true
        price = { prompt = 2, completion = 0.5, currency = "EUR" }
        sampling = { temperature = 0.8, stop = ["\\n\\n"] }
        """
    )

    slot = open_models(home, environ={}).slots["narrator"]

    assert str(slot.url) == "https://api.example/v1"
    assert slot.key == FileKey(home / "keys/api")
    assert slot.limits == TimeLimits(1, 2.5, 60, 90)
    assert (slot.model, slot.context, slot.reply, slot.retries, slot.batch) == ("teller", 32768, 700, 0, 8)
    assert (slot.tools, slot.json, slot.stream, slot.usage) == (False, "object", False, False)
    assert (slot.reply_parameter, slot.network) == ("max_completion_tokens", "public")
    assert slot.thinks
    assert slot.price == Price(2, 0.5, "EUR")
    assert slot.sampling == {"temperature": 0.8, "stop": ["\n\n"]}


@pytest.mark.parametrize("name", ["extract", "summary", "dream"])
def test_work_without_a_slot_of_its_own_goes_to_the_narrator(write: Write, name: str) -> None:
    models = open_models(write(NARRATOR), environ={})

    assert models.slot(name) is models.slot("narrator")


def test_embeddings_and_named_slots_do_not(write: Write) -> None:
    models = open_models(write(NARRATOR), environ={})

    assert models.slot("embedding") is None
    assert models.slot("bard") is None
    assert "[models.embedding]" in models.missing("embedding")
    assert "[models.bard]" in models.missing("bard")


def test_a_slot_at_the_narrators_endpoint_changes_only_what_it_says(write: Write) -> None:
    home = write(
        NARRATOR + 'model = "big"\nkey_env = "MY_KEY"\ntimeouts = { first = 5 }\nsampling = { temperature = 1 }\n'
        '[models.summary]\nmodel = "small"\ntimeouts = { total = 9 }\n'
        '[models.embedding]\nmodel = "vectors"\n'
        '[models.dream]\nkey_file = "k"\n'
    )

    models = open_models(home, environ={})

    assert models.slots["summary"].model == "small"
    assert models.slots["summary"].key == EnvironmentKey("MY_KEY", {})
    assert models.slots["summary"].limits == TimeLimits(first=5, total=9)
    assert models.slots["summary"].sampling == {"temperature": 1}
    assert models.slots["embedding"].sampling == {}
    assert models.slots["embedding"].key == EnvironmentKey("MY_KEY", {})
    assert models.slots["dream"].key == FileKey(home / "k")


def test_an_embedding_slot_has_prefixes_as_they_are_written(write: Write) -> None:
    longest = "x" * 200
    home = write(NARRATOR + f'[models.embedding]\nquery_prefix = "Query:\\n "\npassage_prefix = "{longest}"\n')

    models = open_models(home, environ={})

    assert (models.slots["embedding"].query_prefix, models.slots["embedding"].passage_prefix) == ("Query:\n ", longest)
    assert (models.slots["narrator"].query_prefix, models.slots["narrator"].passage_prefix) == ("", "")


@pytest.mark.parametrize(
    ("summary", "price"),
    [
        ("retries = 1", Price(3, 15)),
        ('model = "big"', Price(3, 15)),
        ('model = "small"', None),
        ('base_url = "http://127.0.0.1:1/v1"', None),
        ('model = "small"\nprice = { prompt = 0, completion = 0 }', Price(0, 0)),
    ],
)
def test_a_price_goes_with_the_model_it_is_of(write: Write, summary: str, price: Price | None) -> None:
    home = write(NARRATOR + f'model = "big"\nprice = {{ prompt = 3, completion = 15 }}\n[models.summary]\n{summary}\n')

    assert open_models(home, environ={}).slots["summary"].price == price


@pytest.mark.parametrize(
    ("price", "tokens", "cost"),
    [
        (Price(3, 15), (1_000_000, 1_000_000), 18 * BILLION),
        (Price(0.0375, 0.15), (1, 1), 188),
        (Price(3, 15), (0, 0), 0),
        (Price(3, 15), (None, None), None),
        (Price(3, 15), (5, None), None),
        (Price(1_000_000, 1_000_000), (2**53, 0), 2**53 - 1),
    ],
)
def test_a_cost_is_in_whole_billionths(price: Price, tokens: tuple[int | None, int | None], cost: int | None) -> None:
    assert price.cost(*tokens) == cost


def test_a_slot_with_an_endpoint_of_its_own_never_gets_the_narrators_key(write: Write) -> None:
    home = write(
        NARRATOR + 'key_env = "MY_KEY"\nmodel = "big"\n[models.summary]\nbase_url = "https://other.example/v1"\n'
    )

    slot = open_models(home, environ={}).slots["summary"]

    assert (slot.key, slot.model, str(slot.url)) == (None, "", "https://other.example/v1")


@pytest.mark.parametrize(
    ("url", "written", "network"),
    [
        ("http://localhost:11434/v1", "", "loopback"),
        ("http://127.0.0.1:11434/v1", "", "loopback"),
        ("http://192.168.1.9/v1", "", "private"),
        ("http://box.local/v1", "", "public"),
        ("http://box.local/v1", 'network = "private"', "private"),
        ("http://169.254.169.254/v1", "", "public"),
    ],
)
def test_the_network_is_what_is_written(write: Write, url: str, written: str, network: str) -> None:
    models = open_models(write(f'[models.narrator]\nbase_url = "{url}"\n{written}'), environ={})

    assert models.slots["narrator"].network == network


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[models.narrator\n", "talekeeper.toml:1:"),
        ("models = 3", "models: is no table"),
        ("[models]\nnarrator = 3", "models.narrator: "),
        ("[models.Narrator]", "'Narrator' is no name of a slot"),
        ("[models.narrator]\nmodel = 'x'", "models.narrator.base_url: is missing"),
        ("[models.extract]\nmodel = 'x'", "models.extract.base_url: is missing"),
        ("[models.embedding]", 'models.embedding.base_url: is missing; write provider = "local" for the model of'),
        ("[models.embeding]", "models.embeding.base_url: is missing; did you mean [models.embedding]?"),
        ("[models.narator]\nmodel = 'x'", "models.narator.base_url: is missing; did you mean [models.narrator]?"),
        ("[models.embeding]\nprovider = 'local'", "only the embedding slot has one; did you mean [models.embedding]?"),
        (NARRATOR + "[models.embeddings]\nquery_prefix = ''", "has one; did you mean [models.embedding]?"),
        (NARRATOR + "provider = 'local'", "models.narrator.provider: only the embedding slot has one; write base_url"),
        ("[models.weather]\nprovider = 'local'", "models.weather.provider: only the embedding slot has one; write"),
        (NARRATOR + "modle = 'x'", 'models.narrator.modle: this key is not known; did you mean "model"?'),
        (NARRATOR + "xyzzy = 'x'", "known are base_url, model"),
        (NARRATOR + "json_mode = 'object'", "this key is not known"),
        (NARRATOR + "timeouts = { frist = 1 }", 'timeouts.frist: this key is not known; did you mean "first"?'),
        (NARRATOR + "timeouts = { first = 0 }", "timeouts.first: must be a number above 0"),
        (NARRATOR + "timeouts = { first = inf }", "timeouts.first: "),
        (NARRATOR + "price = 3", "models.narrator.price: must be a table; write price = {"),
        (NARRATOR + "timeouts = 3", "models.narrator.timeouts: must be a table"),
        (NARRATOR + "price = { prompt = 3 }", "price.completion: is missing; write price = { prompt = 0.5"),
        (NARRATOR + "price = { prompt = -1, completion = 1 }", "price.prompt: must be a number from 0"),
        (NARRATOR + "price = { prompt = nan, completion = 1 }", "price.prompt: "),
        (NARRATOR + "price = { prompt = 1, completion = 1, curency = 'x' }", 'did you mean "currency"?'),
        (
            NARRATOR + "price = { prompt = 1, completion = 1, currency = 'US D' }",
            "price.currency: must be 1 to 8 visible",
        ),
        (
            NARRATOR + 'price = { prompt = 1, completion = 1, currency = "\\u202eUSD" }',
            "price.currency: must be 1 to 8 visible",
        ),
        (NARRATOR + "retries = 99", "retries: must be a whole number from 0 to 10"),
        (NARRATOR + "context = '8k'", "context: must be a whole number"),
        (NARRATOR + "network = 'lan'", "network: must be one of public, private, loopback, link-local"),
        (NARRATOR + f"model = '{'x' * 301}'", "models.narrator.model: must be text of 1 to 300 characters"),
        (NARRATOR + "query_prefix = 'q'", "models.narrator.query_prefix: only the embedding slot has one; move it to"),
        (NARRATOR + "[models.summary]\npassage_prefix = ''", "models.summary.passage_prefix: only the embedding slot"),
        ("[models.summary]\n" + NARRATOR + "query_prefix = 'q'", "models.narrator.query_prefix: only the embedding"),
        (
            NARRATOR + f"[models.embedding]\nquery_prefix = '{'x' * 201}'",
            "models.embedding.query_prefix: must be text of at most 200 characters; write what the model wants",
        ),
        (
            f"[models.embedding]\nprovider = 'local'\npassage_prefix = '{'x' * 201}'",
            "models.embedding.passage_prefix: must be text of at most 200 characters; write what the model wants",
        ),
        (
            NARRATOR + "[models.embedding]\npassage_prefix = ['tk-canary-9f8e']",
            "passage_prefix: must be text of at most 200 characters; write what the model wants before a passage",
        ),
        (NARRATOR + "[models.embedding]\nquery_prefx = ''", 'query_prefx: this key is not known; did you mean "query_'),
        (NARRATOR + "sampling = { messages = [] }", "sampling: may not hold 'messages'"),
        (NARRATOR + "sampling = { x = nan }", "sampling: may hold only what JSON has"),
        (NARRATOR + "sampling = { x = 2026-01-01 }", "sampling: may hold only what JSON has"),
        (NARRATOR + "key_env = 'A'\nkey_file = 'b'", "key_file: is given beside key_env"),
        ('[models.narrator]\nbase_url = "ftp://x"', "base_url: begins with neither"),
        ('[models.narrator]\nbase_url = "https://x\\r\\ny"', "base_url: holds a character"),
        (NARRATOR + "key = 'tk-canary-9f8e'", "models.narrator.key: a key is not kept in this file"),
        (NARRATOR + "api_key = 'tk-canary-9f8e'", "a key is not kept in this file; write key_env"),
        (NARRATOR + "key_env = 'tk-canary-9f8e'", "key_env: must be the name of an environment variable"),
        (NARRATOR + "model = ['tk-canary-9f8e']", "model: must be text"),
        (NARRATOR + "key_env = tk-canary-9f8e", "talekeeper.toml:3:"),
        ('[models.narrator]\nbase_url = "https://me:tk-canary-9f8e@x/v1"', "holds a user name or password"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_without_its_value(write: Write, text: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        open_models(write(text), environ={})

    assert told in str(caught.value)
    assert "talekeeper.toml" in str(caught.value)
    assert "canary" not in str(caught.value)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"#" * 1_100_000], ids=["not UTF-8", "too large"])
def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "talekeeper.toml").write_bytes(content)

    with pytest.raises(InputError, match="the file"):
        open_models(tmp_path, environ={})


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "talekeeper.toml").write_bytes(b"\xef\xbb\xbf" + (NARRATOR + 'model = "m"\n').encode())

    models = open_models(tmp_path, environ={})

    assert models.slots["narrator"].model == "m"


def test_without_anything_there_is_no_model_and_no_error(tmp_path: Path, clock: FixedClock) -> None:
    models = open_models(tmp_path, environ={})

    assert models == NO_MODELS == Models()
    assert models.slot("narrator") is None
    assert "OPENAI_BASE_URL" in models.missing("extract")
    with pytest.raises(NoModel, match="no model is configured; write") as caught:
        models.client("summary", clock=clock)
    assert caught.value.data["slot"] == "summary"


def test_other_tables_of_the_file_are_not_ours(write: Write) -> None:
    models = open_models(write("[plugins]\nx = 1\n"), environ={})

    assert models.origin == "none"


def test_the_environment_is_asked_when_the_file_has_nothing(tmp_path: Path) -> None:
    environ = {
        "OPENAI_BASE_URL": "http://localhost:9/v1",
        "OPENAI_API_KEY": "a-key-of-some-length",
        "OPENAI_MODEL": "m",
    }

    models = open_models(tmp_path, environ=environ, remembered="http://127.0.0.1:1/v1")

    slot = models.slots["narrator"]
    assert (models.origin, slot.model, slot.network) == ("environment", "m", "loopback")
    assert slot.key is not None
    assert slot.key.read().reveal() == "a-key-of-some-length"


def test_an_odd_url_in_the_environment_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="OPENAI_BASE_URL: begins with neither"):
        open_models(tmp_path, environ={"OPENAI_BASE_URL": "file:///etc/passwd"})


def test_the_file_goes_before_the_environment(write: Write) -> None:
    models = open_models(write(NARRATOR), environ={"OPENAI_BASE_URL": "http://localhost:9/v1"})

    assert models.origin == "file"


def test_a_local_server_is_found_named_and_remembered(tmp_path: Path, clock: FixedClock) -> None:
    with ScriptedServer([say("Hello.")], models=("llama", "nomic-embed")) as server:
        (found,) = find_local_servers(clock=clock, ports=[("Ollama", server.port)])
        models = open_models(tmp_path, environ={}, remembered=str(found.url))

    assert (found.program, str(found.url), found.models) == ("Ollama", server.base_url, ("llama", "nomic-embed"))
    assert models.origin == "local"
    assert [(request.method, request.path, request.body) for request in server.requests] == [("GET", "/v1/models", {})]
    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize(
    "answer",
    [
        raw("<html>It works!</html>", "text/html"),
        raw("[]", "application/json"),
        raw('{"data": []}', "application/json"),
        raw('{"data": [{"name": "x"}]}', "application/json"),
        raw('{"data": [{"id": 3}]}', "application/json"),
        raw('{"data": [{"id": "bad\\u0007"}]}', "application/json"),
        raw('{"data": [{"id": "x"}]}', "application/json", status=401),
        raw("", "text/html", status=302, location="http://127.0.0.1/v1/models"),
    ],
)
def test_only_a_list_of_models_counts(clock: FixedClock, monkeypatch: pytest.MonkeyPatch, answer: Step) -> None:
    def take(_: object) -> Step:
        return answer

    with ScriptedServer() as server:
        monkeypatch.setattr(server, "take", take)
        found = find_local_servers(clock=clock, ports=[("Ollama", server.port)])

    assert found == []


def test_a_closed_port_is_no_server(clock: FixedClock) -> None:
    with ScriptedServer() as server:
        port = server.port

    assert find_local_servers(clock=clock, ports=[("Ollama", port)]) == []


@pytest.mark.skipif(os.name != "posix", reason="pipes are POSIX")
def test_a_pipe_in_the_place_of_the_settings_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "talekeeper.toml")

    with pytest.raises(InputError, match="this is no file"):
        open_models(tmp_path)
