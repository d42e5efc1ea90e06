"""The tools of a turn: memory-search and those of the working plugins. What a prompt says permits none of them.

A fault goes to the model as the call's result, and the turn goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from talekeeper.errors import Cancelled, HeldAcrossCall, ParameterError, PermissionDenied, TalekeeperError
from talekeeper.memory_search import MEMORY_SEARCH, read_question, search_memory
from talekeeper.models import ToolCall, ToolOffer, read_arguments
from talekeeper.plugin_context import InTurn, Pending, call_plugin, check_arguments
from talekeeper.plugins import Plugin
from talekeeper.text import freeze, thaw
from talekeeper.turn.frame import cleaned, escaped
from talekeeper.turn.prompt import Prompt
from talekeeper.turn.turn_context import Approval, ToolOutcome, TurnContext

Approve = Callable[[Approval], bool]

CALLS = 16
"""Tool calls of a turn. A narrator that looks things up and rolls dice needs three or four; so many are a loop."""

_SECONDS = 60.0
"""Time of all tools together: six that use up their own deadline."""

TOTAL_BYTES = 64 * 1024
"""Results given back to the model, together: more than the context of most local models holds."""

RESULT_BYTES = 24 * 1024
"""One result: a whole answer of memory-search with twenty excerpts is under 20 KiB."""

_ARGUMENT_BYTES = 64 * 1024
"""The arguments of one call, as the model wrote them."""

_NO_ARGUMENTS: Mapping[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool as offered; `plugin` is None for the kernel's own."""

    tool: ToolOffer
    plugin: Plugin | None = None
    effects: str = "none"


def offers(turn: TurnContext) -> dict[str, Offer]:
    """Every tool by its name; the host sees to it that names are unique."""
    own = ToolOffer(str(MEMORY_SEARCH["name"]), str(MEMORY_SEARCH["description"]), MEMORY_SEARCH["parameters"])
    found = [Offer(own)]
    for plugin in turn.roster.working:
        for entry in () if plugin.suspended else plugin.declared.contributes.get("tools", ()):
            tool = ToolOffer(str(entry["name"]), str(entry["description"]), entry.get("parameters") or _NO_ARGUMENTS)
            found.append(Offer(tool, plugin, str(entry.get("effects", "none"))))
    return {offer.tool.name: offer for offer in found}


@dataclass(slots=True)
class Toolbox:
    """Runs the calls of one turn and keeps count of what they may still cost."""

    turn: TurnContext
    prompt: Prompt
    offered: Mapping[str, Offer]
    pending: Pending
    approve: Approve | None
    done: list[ToolOutcome] = field(default_factory=list[ToolOutcome])
    seconds: float = 0.0
    size: int = 0

    def spent(self) -> str:
        """Why no more tool is called in this turn; empty while there is something left."""
        if len(self.done) >= CALLS:
            return f"the {CALLS} tool calls of this turn are used up"
        if self.seconds >= _SECONDS:
            return f"the {_SECONDS:g} s that tools may take in a turn are used up"
        if self.size >= TOTAL_BYTES:
            return f"tools have given {TOTAL_BYTES:,} bytes, as much as they may in a turn"
        return ""

    def run(self, call: ToolCall) -> str:
        """Answers a call: with its result or its fault, as one line of JSON."""
        self.turn.check()
        offer = self.offered.get(call.name)
        plugin = offer.plugin.id if offer and offer.plugin else ""
        started = time.monotonic()
        result, fault = "", self.spent()
        try:
            result = "" if fault else escaped(cleaned(self._result(call, offer)))
        except HeldAcrossCall:
            raise
        except Cancelled:
            self.turn.check()
            raise
        except TalekeeperError as error:
            fault = str(error)
        self.seconds += time.monotonic() - started
        self.done.append(ToolOutcome(call.name, plugin, fault))
        self.turn.report("tool.called", call.arguments, tool=call.name, plugin=plugin, fault=fault, bytes=len(result))
        result = result or escaped(cleaned({"error": f"{fault}; go on with the story without it"}))
        if len(result.encode()) > RESULT_BYTES:
            result = escaped({"error": f"the result has more than {RESULT_BYTES:,} bytes; ask for less"})
        self.size += len(result.encode())
        return result

    def _result(self, call: ToolCall, offer: Offer | None) -> Any:
        if offer is None:
            raise ParameterError(call.name[:80], "there is no such tool", cure=f"there are {', '.join(self.offered)}")
        if len(call.arguments.encode()) > _ARGUMENT_BYTES:
            raise ParameterError(call.name, f"the arguments have more than {_ARGUMENT_BYTES:,} bytes")
        arguments = read_arguments(call)
        turn = self.turn
        if offer.plugin is None:
            shown = self.prompt.shown
            return search_memory(
                turn.services, turn.address, read_question(arguments), at=turn.at, running_turn=turn.number, shown=shown
            ).as_json()
        check_arguments(offer.tool.parameters, arguments)
        self._permit(offer, offer.plugin, arguments)
        refused = "" if offer.effects != "none" else f"its tool {offer.tool.name} writes records"
        in_turn = InTurn(turn.view(self.prompt.history_from), self.pending, "tool", refused)
        return call_plugin(turn.bound(offer.plugin, in_turn), "tools", offer.tool.name, freeze(arguments), check=thaw)

    def _permit(self, offer: Offer, plugin: Plugin, arguments: Mapping[str, Any]) -> None:
        """In a tainted turn a person has to allow a tool that acts outside the story, else `PermissionDenied`."""
        results = sorted({one.tool for one in self.done if not one.fault})
        taint = [*self.prompt.taint, *([f"the tools {', '.join(results)} gave text"] if results else [])]
        if offer.effects != "external" or not taint:
            return
        name, because = offer.tool.name, "; ".join(taint)
        if not self._allowed(Approval(plugin.id, name, offer.tool.description, freeze(arguments), because)):
            who = "nobody is there to allow it" if self.approve is None else "it was not allowed"
            self.turn.report("denied", dict(arguments), tool=name, what=f"{because}; {who}")
            what = f"the tool {name} acts outside the story, and {because}; {who}"
            raise PermissionDenied(what, where=plugin.id, plugin=plugin.id)

    def _allowed(self, wanted: Approval) -> bool:
        """Asks the person, who may take any time to decide: it is not the tools'."""
        if self.approve is None:
            return False
        self.turn.report("tool.approval", tool=wanted.tool, because=wanted.because)
        started = time.monotonic()
        try:
            return self.approve(wanted)
        finally:
            self.seconds -= time.monotonic() - started
