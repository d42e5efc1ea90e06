"""Reads `plugin.toml` before any code of a plugin runs: bytes → diagnostics with positions, and declared values.

`read_manifest` gives the values or raises with all diagnostics; `check_target`, for `validate-plugin`, reports on all
manifests of a target. Both go through one function.
"""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.manifest.codes import (
        BAD_WHEEL,
        BY_ID,
        HOOK_FAILED,
        IMPORT_FAILED,
        KERNEL_TOOL,
        LEVEL,
        NO_HOOK,
        NOT_DECLARED,
        NOT_REGISTERED,
        NOT_RELOADABLE,
        Code,
    )
    from talekeeper.manifest.declared import Namespace, PluginManifest, SearchTable
    from talekeeper.manifest.diagnostic import Finding, located
    from talekeeper.manifest.distributions import Wheel, WheelRefused
    from talekeeper.manifest.entry_points import folder_of, installed
    from talekeeper.manifest.loader import read_manifest
    from talekeeper.manifest.model.manifest import generated_schema
    from talekeeper.manifest.names import PLUGIN_ID, name_fault, tool_key
    from talekeeper.manifest.package import FILE_NAME, GROUP, Folder, matches
    from talekeeper.manifest.project import lone_package, project_at
    from talekeeper.manifest.report import Examined, Report, as_document, as_github, as_text, unpainted
    from talekeeper.manifest.rules.contributions import POINTS
    from talekeeper.manifest.rules.data import seed_rows
    from talekeeper.manifest.shape import PUBLISHED_SCHEMA, published_text
    from talekeeper.manifest.targets import check_target
else:
    __getattr__ = lazy_face(__name__)

__all__ = [
    "BAD_WHEEL",
    "BY_ID",
    "FILE_NAME",
    "GROUP",
    "HOOK_FAILED",
    "IMPORT_FAILED",
    "KERNEL_TOOL",
    "LEVEL",
    "NOT_DECLARED",
    "NOT_REGISTERED",
    "NOT_RELOADABLE",
    "NO_HOOK",
    "PLUGIN_ID",
    "POINTS",
    "PUBLISHED_SCHEMA",
    "Code",
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
    "check_target",
    "folder_of",
    "generated_schema",
    "installed",
    "located",
    "lone_package",
    "matches",
    "name_fault",
    "project_at",
    "published_text",
    "read_manifest",
    "seed_rows",
    "tool_key",
    "unpainted",
]
