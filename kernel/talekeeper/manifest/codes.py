"""Every rule of the manifest by its code, used by its name (`codes.UNKNOWN_KEY`), and the limits of a manifest's files.

What a code asks, and how to satisfy it, is in `codes.toml` beside this module: `--explain` and the reference page show
it. Each limit is stated once, for patterns, model, rules, messages and those texts, which write it as `$NAME`.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Literal, NamedTuple

from talekeeper.config import TOML_DEPTH
from talekeeper.text import EXACT_INTEGER

LEVEL = 1
"""The manifest level of this host. A manifest says in `api` which level it was written for; a rule introduced with a
later level holds for manifests of that level only."""

MANIFEST_KIB = 64
SCHEMA_KIB = 256
SEED_MIB = 16
MEMBER_MIB = 64
"""One unpacked file of a wheel."""

NAME_LENGTH = 64
KEY_LENGTH = 40
"""The key of a setting."""
MODULE_LENGTH = 200
FILE_LENGTH = 255
LINE_LENGTH = 120
PROSE_LENGTH = 2000
LEAST_DESCRIPTION = 20
"""Characters from which a tool's description says something."""

SEED_KEY_LENGTH = 200
SESSION_SEED_LINES = 200

Severity = Literal["error", "warning"]


class Code(NamedTuple):
    """One rule, whose number is never used for another.

    `since` is the manifest level that introduced the rule; manifests of an earlier level are not held to it.
    """

    id: str
    severity: Severity = "error"
    since: int = 1

    @property
    def title(self) -> str:
        """What is wrong, without a full stop."""
        return _texts()[self.id]["title"]

    @property
    def rule(self) -> str:
        """What the rule asks and why."""
        return _texts()[self.id]["rule"]

    @property
    def cure(self) -> str:
        """How to satisfy it."""
        return _texts()[self.id]["cure"]


@lru_cache(maxsize=1)
def _texts() -> dict[str, dict[str, str]]:
    import tomli  # noqa: PLC0415 - a diagnostic shows the code alone

    text = Path(__file__).with_name("codes.toml").read_text(encoding="utf-8")
    numbers = {**globals(), "TOML_DEPTH": TOML_DEPTH, "EXACT_INTEGER": EXACT_INTEGER}
    shown = {name: f"{it:,}" for name, it in numbers.items() if isinstance(it, int)}
    return tomli.loads(Template(text).safe_substitute(shown))


# TK0: the file itself and its syntax
UNREADABLE = Code("TK001")
TOO_LARGE = Code("TK002")
TOO_DEEP = Code("TK003")
NOT_UTF8 = Code("TK004")
SYNTAX = Code("TK005")
BYTE_ORDER_MARK = Code("TK006")
NOT_JSON = Code("TK007")

# TK1: who the plugin is, and which versions it is for
PLUGIN_ID = Code("TK101")
VERSION = Code("TK102")
NEWER_LEVEL = Code("TK103", "warning")
HOST_SPECIFIER = Code("TK104")
HOST_EXCLUDED = Code("TK105", "warning")
NEEDS_ITSELF = Code("TK106")
NEEDED_TWICE = Code("TK107")
MODULE_NAME = Code("TK108")
SAME_ID = Code("TK109")

# TK2: the tables of the manifest, their keys and values
UNKNOWN_POINT = Code("TK201")
WRONG_KIND_OF_TABLE = Code("TK202")
WRONG_TYPE = Code("TK203")
MISSING_KEY = Code("TK204")
NOT_A_CHOICE = Code("TK205")
OUT_OF_RANGE = Code("TK206")
TEXT_SHAPE = Code("TK207")
NAMESPACE_NAME = Code("TK208")
KERNEL_NAMESPACE = Code("TK209")
SAME_NAME = Code("TK210")
TOOL_NAME = Code("TK211")
KERNEL_TOOL = Code("TK212")
LOCAL_NAME = Code("TK213")
SETTING_KEY = Code("TK214")
OLDEST_OF_WHAT = Code("TK215")
NO_TIME = Code("TK216")
TWO_TIMES = Code("TK217")
TIME_UNUSED = Code("TK218")
BAD_TIME = Code("TK219")
UNKNOWN_KEY = Code("TK221")
DEFAULT_TYPE = Code("TK222")
SETTING_RANGE = Code("TK223")
MATCH_PATTERN = Code("TK224")
NO_CODE = Code("TK225")
READ_TARGET = Code("TK226")
READ_UNORDERED = Code("TK227", "warning")
FILE_PERMISSION = Code("TK228")
HOST_PERMISSION = Code("TK229")
TOOL_TAKEN = Code("TK230", "warning")

# TK3: other files that the manifest names
NO_SUCH_FILE = Code("TK301")
OUTSIDE = Code("TK302")
NOT_JSON_FILE = Code("TK303")
NOT_A_SCHEMA = Code("TK304")
NOT_OF_OBJECTS = Code("TK305")
REMOTE_REFERENCE = Code("TK306")
NO_SUCH_PROPERTY = Code("TK307")
NOT_SEARCHABLE = Code("TK308")
NO_MODULE = Code("TK309")
NO_SEED = Code("TK310")
BAD_SEED = Code("TK311")
SEED_TOO_LONG = Code("TK312")
EXPRESSION = Code("TK313")

# TK4: the package around the manifest: entry points, wheels, projects
NO_MANIFEST = Code("TK401")
NO_ENTRY_POINT = Code("TK402")
ENTRY_POINT_NAME = Code("TK403")
ENTRY_POINT_VALUE = Code("TK404", "warning")
NO_PACKAGE = Code("TK405")
BAD_WHEEL = Code("TK406")
OTHER_VERSION = Code("TK407", "warning")
FOLDER_NAME = Code("TK408")
NOT_PACKAGED = Code("TK409", "warning")
BAD_ENTRY_POINTS = Code("TK410")

# TK5: the plugin's code, looked at only with `--imports`
IMPORT_FAILED = Code("TK501")
NO_HOOK = Code("TK502")
HOOK_FAILED = Code("TK503")
NOT_REGISTERED = Code("TK504")
NOT_DECLARED = Code("TK505")
NOT_RELOADABLE = Code("TK506")

# TK9: what is allowed, but will disappoint somebody
NO_SUMMARY = Code("TK901", "warning")
VERSION_SPELLING = Code("TK902", "warning")
FEEDS_NOTHING = Code("TK903", "warning")
OFTEN_ABSENT = Code("TK904", "warning")
THIN_DESCRIPTION = Code("TK905", "warning")

BY_ID = MappingProxyType({it.id: it for it in list(globals().values()) if isinstance(it, Code)})
