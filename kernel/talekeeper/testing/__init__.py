"""What a plugin author's tests use: a host of their own, tests to inherit, a scripted server.

pytest offers the host as the fixture `talekeeper_host`:

    def test_lore_is_found(talekeeper_host: Host) -> None:
        talekeeper_host.add(PACKAGE)
        talekeeper_host.records("entries", [{"body": "Hesper Lowe keeps the lamp."}])
        assert talekeeper_host.search("lamp").results[0].text == "Hesper Lowe keeps the lamp."

`PluginContract` has tests that every plugin must pass, `EmbeddingProviderContract` and `VectorStoreContract` those for
what a plugin provides to search. A model is played by a server on this machine:

    with ScriptedServer([fail(429, retry_after=1), call_tool("roll-dice", {"sides": 6}), say("A four.")]) as server:
        ...  # point a model slot at server.base_url
    assert server.requests[-1].body["messages"][-1]["role"] == "tool"

and a whole turn with a narrator of the test's own:

    talekeeper_host.turn("I light the lamp.", narrator=[call_tool("roll-dice", {"sides": 6}), say("It burns.")])
"""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.clock import FixedClock
    from talekeeper.plugin_context import Imported
    from talekeeper.testing.contracts import EmbeddingProviderContract, PluginContract, VectorStoreContract
    from talekeeper.testing.host import START, Host
    from talekeeper.testing.openai_server import ScriptedServer, hash_vector
    from talekeeper.testing.script import (
        OneModel,
        Recorded,
        ScriptedNarrator,
        Step,
        call_tool,
        echo_key,
        fail,
        gullible_narrator,
        overflow,
        raw,
        say,
        say_json,
        stop_short,
    )
else:
    __getattr__ = lazy_face(__name__)

__all__ = [
    "START",
    "EmbeddingProviderContract",
    "FixedClock",
    "Host",
    "Imported",
    "OneModel",
    "PluginContract",
    "Recorded",
    "ScriptedNarrator",
    "ScriptedServer",
    "Step",
    "VectorStoreContract",
    "call_tool",
    "echo_key",
    "fail",
    "gullible_narrator",
    "hash_vector",
    "overflow",
    "raw",
    "say",
    "say_json",
    "stop_short",
]
