"""What a plugin author's tests use: a scripted OpenAI-compatible server on this machine.

from talekeeper.testing import ScriptedServer, say, call_tool, fail

with ScriptedServer([fail(429, retry_after=1), call_tool("roll-dice", {"sides": 6}), say("A four.")]) as server:
...  # point a model slot at server.base_url
assert server.requests[-1].body["messages"][-1]["role"] == "tool"
"""

from talekeeper.testing.openai_server import Recorded, ScriptedServer
from talekeeper.testing.openai_steps import Step, call_tool, echo_key, fail, overflow, raw, say, say_json, stop_short
from talekeeper.testing.openai_vectors import hash_vector

__all__ = [
    "Recorded",
    "ScriptedServer",
    "Step",
    "call_tool",
    "echo_key",
    "fail",
    "hash_vector",
    "overflow",
    "raw",
    "say",
    "say_json",
    "stop_short",
]
