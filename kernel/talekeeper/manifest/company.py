"""Manifests side by side: two plugins with one id, two tools with one name."""

from __future__ import annotations

from talekeeper.manifest.codes import contributions, identity
from talekeeper.manifest.diagnostic import Diagnostic, Finding, located
from talekeeper.manifest.names import tool_key
from talekeeper.manifest.outcome import Examined
from talekeeper.text import quoted


def in_company(examined: list[Examined]) -> list[Examined]:
    """The same manifests, with what can only be said of one of them beside the others."""
    ids: dict[str, str] = {}
    tools: dict[str, str] = {}
    return [_beside(one, ids, tools) for one in examined]


def _beside(one: Examined, ids: dict[str, str], tools: dict[str, str]) -> Examined:
    findings: list[Finding] = []
    checked = one.checked
    earlier = ids.setdefault(checked.id, one.file) if checked.id else one.file
    if earlier != one.file:
        message = f"id {quoted(checked.id)} is taken by {earlier}"
        findings.append(Finding(identity.SAME_ID, ("plugin", "id"), message))
    entries = checked.manifest.contributes.get("tools", ()) if checked.manifest else ()
    for index, entry in enumerate(entries):
        name = str(entry["name"])
        other = tools.setdefault(tool_key(name), one.file)
        if other != one.file:
            message = f"the tool {quoted(name)} is declared by {other} too; when both are active, one is blocked"
            findings.append(Finding(contributions.TOOL_TAKEN, ("contributes", "tools", index, "name"), message))
    if not findings:
        return one
    diagnostics: list[Diagnostic] = [*checked.diagnostics, *located(findings, one.file, checked.places)]
    diagnostics.sort(key=lambda it: (it.line, it.column, it.code))
    return one._replace(checked=checked.judged(diagnostics))
