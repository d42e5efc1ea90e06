"""The kinds of names and texts a manifest has, each a text constrained by a pattern.

`misfits` says in words what is wrong with a value that breaks one; the patterns themselves are for machines.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

PLUGIN_ID = "^[a-z][a-z0-9-]{0,63}$"
NAMESPACE = "^[a-z][a-z0-9_]{0,63}$"
SETTING = "^[a-z][a-z0-9_]{0,39}$"
TOOL = "^[a-zA-Z0-9_-]{1,64}$"
LOCAL = "^[a-z][a-z0-9_-]{0,63}$"
MODULE = "^[A-Za-z_][A-Za-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)*$"
READ = "^[a-z][a-z0-9-]{0,63}/[a-z][a-z0-9_]{0,63}$"
HOST = "^[a-z0-9]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)*(:[0-9]{1,5})?$"
TIME = "^([01][0-9]|2[0-3]):[0-5][0-9]$"
LINE = "^[^\\u0000-\\u001f\\u007f\\u0085\\u2028\\u2029]*$"
PROSE = "^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f]*$"

PluginId = Annotated[str, Field(pattern=PLUGIN_ID)]
NamespaceName = Annotated[str, Field(pattern=NAMESPACE)]
SettingKey = Annotated[str, Field(pattern=SETTING)]
ToolName = Annotated[str, Field(pattern=TOOL)]
LocalName = Annotated[str, Field(pattern=LOCAL)]
ModuleName = Annotated[str, Field(pattern=MODULE, max_length=200)]
ReadTarget = Annotated[str, Field(pattern=READ)]
HostName = Annotated[str, Field(pattern=HOST, max_length=259)]
TimeOfDay = Annotated[str, Field(pattern=TIME)]
Line = Annotated[str, Field(min_length=1, max_length=120, pattern=LINE)]
Prose = Annotated[str, Field(min_length=1, max_length=2000, pattern=PROSE)]
FilePath = Annotated[str, Field(min_length=1, max_length=255, pattern=LINE)]


def tool_key(name: str) -> str:
    """What tool names are compared by: endpoints fold case or turn hyphens into underscores, so these make one name."""
    return name.casefold().replace("_", "-")
