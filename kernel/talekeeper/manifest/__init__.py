"""Reads `plugin.toml` before any code of a plugin runs: bytes → diagnostics with positions, and declared values.

`read_manifest` gives the values or raises with all diagnostics; `check_manifest` gives the diagnostics. Both go through
one function, and so does `validate-plugin`.
"""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.manifest.announced import installed
    from talekeeper.manifest.check import FILE_NAME, check_manifest, read_manifest
    from talekeeper.manifest.codes import BY_ID
    from talekeeper.manifest.codes import code as code_rules
    from talekeeper.manifest.codes.contributions import KERNEL_TOOL
    from talekeeper.manifest.codes.packaging import BAD_WHEEL
    from talekeeper.manifest.declared import Namespace, PluginManifest, SearchTable
    from talekeeper.manifest.diagnostic import Code, Diagnostic, Finding, located
    from talekeeper.manifest.importable import folder_of
    from talekeeper.manifest.level import LEVEL
    from talekeeper.manifest.model.publish import generated_schema, generated_text
    from talekeeper.manifest.name_faults import name_fault
    from talekeeper.manifest.names import PLUGIN_ID, tool_key
    from talekeeper.manifest.outcome import Examined, Report
    from talekeeper.manifest.package import Folder, matches
    from talekeeper.manifest.points import POINTS
    from talekeeper.manifest.present import as_document, as_github, as_text, unpainted
    from talekeeper.manifest.project import GROUP, lone_package, project_at
    from talekeeper.manifest.published import PUBLISHED_SCHEMA, published_text
    from talekeeper.manifest.reference import reference_text
    from talekeeper.manifest.seeds import seed_rows
    from talekeeper.manifest.targets import report
    from talekeeper.manifest.wheel import Wheel, WheelRefused
else:
    __getattr__ = lazy_face(__name__)

__all__ = [
    "BAD_WHEEL",
    "BY_ID",
    "FILE_NAME",
    "GROUP",
    "KERNEL_TOOL",
    "LEVEL",
    "PLUGIN_ID",
    "POINTS",
    "PUBLISHED_SCHEMA",
    "Code",
    "Diagnostic",
    "Examined",
    "Finding",
    "Folder",
    "Namespace",
    "PluginManifest",
    "Report",
    "SearchTable",
    "Wheel",
    "WheelRefused",
    "as_document",
    "as_github",
    "as_text",
    "check_manifest",
    "code_rules",
    "folder_of",
    "generated_schema",
    "generated_text",
    "installed",
    "located",
    "lone_package",
    "matches",
    "name_fault",
    "project_at",
    "published_text",
    "read_manifest",
    "reference_text",
    "report",
    "seed_rows",
    "tool_key",
    "unpainted",
]
