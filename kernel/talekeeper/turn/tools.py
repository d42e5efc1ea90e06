"""The tools of a turn: memory-search and those of the working plugins. What a prompt says permits none of them.

A fault is told to the model as the call's result, and the turn goes on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from talekeeper.errors import Cancelled, HeldAcrossCall, ParameterError, PermissionDenied, TalekeeperError
from talekeeper.json_schema import schema_fault
from talekeeper.memory_search import MEMORY_SEARCH, run_tool
from talekeeper.models import ToolCall, ToolOffer, read_arguments
from talekeeper.plugin_context import InTurn, Pending, call_plugin
from talekeeper.plugin_types import freeze, thaw
from talekeeper.plugins import Plugin
from talekeeper.turn import limits
from talekeeper.turn.frame import cleaned, escaped
from talekeeper.turn.prompt import Prompt
from talekeeper.turn.turn_context import Approval, ToolOutcome, TurnContext

Approve = Callable[[Approval], bool]

_NO_ARGUMENTS: Mapping[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}


@dataclass(frozen=True, slots=True)
class Offer:
    """A tool as offered; `plugin` is None for the kernel's own."""

    told: ToolOffer
    plugin: Plugin | None = None
    effects: str = "none"


def offers(scene: TurnContext) -> dict[str, Offer]:
    """Every tool by its name; names are unique, which the host sees to."""
    own = MEMORY_SEARCH
    found = [Offer(ToolOffer(str(own["name"]), str(own["description"]), own["parameters"]))]
    for plugin in scene.roster.working:
        for tool in plugin.declared.contributes.get("tools", ()):
            told = ToolOffer(str(tool["name"]), str(tool["description"]), tool.get("parameters") or _NO_ARGUMENTS)
            if not plugin.suspended:
                found.append(Offer(told, plugin, str(tool.get("effects", "none"))))
    return {offer.told.name: offer for offer in found}


@dataclass(slots=True)
class Toolbox:
    """Runs the calls of one turn and keeps count of what they may still cost."""

    scene: TurnContext
    prompt: Prompt
    offered: Mapping[str, Offer]
    pending: Pending
    approve: Approve | None
    done: list[ToolOutcome] = field(default_factory=list[ToolOutcome])
    seconds: float = 0.0
    size: int = 0

    def spent(self) -> str:
        """Why no more tool is called in this turn; empty while there is something left."""
        if len(self.done) >= limits.CALLS:
            return f"the {limits.CALLS} tool calls of this turn are used up"
        if self.seconds >= limits.TOOL_SECONDS:
            return f"the {limits.TOOL_SECONDS:g} s that tools may take in a turn are used up"
        if self.size >= limits.TOOL_BYTES:
            return f"tools have given {limits.TOOL_BYTES:,} bytes, as much as they may in a turn"
        return ""

    def run(self, call: ToolCall) -> str:
        """What the model is told of a call: its result or its fault, as one line of JSON."""
        self.scene.check()
        offer = self.offered.get(call.name)
        plugin = offer.plugin.id if offer and offer.plugin else ""
        started = time.monotonic()
        fault = self.spent()
        text = ""
        if not fault:
            text, fault = self._tried(call, offer)
            self.seconds += time.monotonic() - started
        self.done.append(ToolOutcome(call.name, plugin, fault))
        self.scene.tell("tool.called", call.arguments, tool=call.name, plugin=plugin, fault=fault, bytes=len(text))
        return self._told(text or escaped(cleaned({"error": f"{fault}; go on with the story without it"})))

    def _tried(self, call: ToolCall, offer: Offer | None) -> tuple[str, str]:
        try:
            return self._checked(call, offer), ""
        except HeldAcrossCall:
            raise
        except Cancelled:
            self.scene.check()
            raise
        except TalekeeperError as fault:
            return "", str(fault)

    def _checked(self, call: ToolCall, offer: Offer | None) -> str:
        if offer is None:
            raise ParameterError(call.name[:80], "there is no such tool", cure=f"there are {', '.join(self.offered)}")
        if len(call.arguments.encode()) > limits.ARGUMENT_BYTES:
            raise ParameterError(call.name, f"the arguments have more than {limits.ARGUMENT_BYTES:,} bytes")
        arguments = read_arguments(call)
        if offer.plugin is None:
            return escaped(cleaned(self._search(arguments)))
        wrong = schema_fault(offer.told.parameters, arguments)
        if wrong is not None:
            raise ParameterError(wrong[0] or "arguments", wrong[1])
        self._permit(offer, offer.plugin, arguments)
        return escaped(cleaned(self._call(offer, offer.plugin, arguments)))

    def _search(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        scene = self.scene
        return run_tool(
            scene.services,
            scene.address,
            arguments,
            at=scene.at,
            running_turn=scene.number,
            shown=self.prompt.shown,
        )

    def _permit(self, offer: Offer, plugin: Plugin, arguments: Mapping[str, Any]) -> None:
        because = self._taint()
        if offer.effects != "external" or not because:
            return
        asked = Approval(plugin.id, offer.told.name, offer.told.description, freeze(arguments), "; ".join(because))
        if not self._allowed(asked):
            who = "nobody is there to allow it" if self.approve is None else "it was not allowed"
            self.scene.tell("denied", dict(arguments), tool=asked.tool, what=f"{asked.because}; {who}")
            raise PermissionDenied(
                f"the tool {offer.told.name} acts outside the story, and {'; '.join(because)}; {who}",
                where=plugin.id,
                plugin=plugin.id,
            )

    def _allowed(self, asked: Approval) -> bool:
        """A person may take any time to decide: it is not the tools'."""
        if self.approve is None:
            return False
        self.scene.tell("tool.approval", tool=asked.tool, because=asked.because)
        started = time.monotonic()
        try:
            return self.approve(asked)
        finally:
            self.seconds -= time.monotonic() - started

    def _taint(self) -> Sequence[str]:
        given = sorted({one.tool for one in self.done if not one.fault})
        return [*self.prompt.taint, *([f"the tools {', '.join(given)} gave text"] if given else [])]

    def _call(self, offer: Offer, plugin: Plugin, arguments: Mapping[str, Any]) -> Any:
        scene = self.scene
        refused = "" if offer.effects != "none" else f"its tool {offer.told.name} writes records"
        in_turn = InTurn(scene.view(self.prompt.history_from), self.pending, "tool", refused)
        return call_plugin(scene.bound(plugin, in_turn), "tools", offer.told.name, freeze(arguments), check=thaw)

    def _told(self, text: str) -> str:
        if len(text.encode()) > limits.RESULT_BYTES:
            text = escaped({"error": f"the result has more than {limits.RESULT_BYTES:,} bytes; ask for less"})
        self.size += len(text.encode())
        return text
