"""The kinds of names and texts as types of the model: the patterns of `manifest.names`, and how long each may be."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from talekeeper.manifest import names

PluginId = Annotated[str, Field(pattern=names.PLUGIN_ID)]
NamespaceName = Annotated[str, Field(pattern=names.NAMESPACE)]
SettingKey = Annotated[str, Field(pattern=names.SETTING)]
ToolName = Annotated[str, Field(pattern=names.TOOL)]
LocalName = Annotated[str, Field(pattern=names.LOCAL)]
ModuleName = Annotated[str, Field(pattern=names.MODULE, max_length=200)]
ReadTarget = Annotated[str, Field(pattern=names.READ)]
HostName = Annotated[str, Field(pattern=names.HOST, max_length=259)]
TimeOfDay = Annotated[str, Field(pattern=names.TIME)]
Line = Annotated[str, Field(min_length=1, max_length=120, pattern=names.LINE)]
Prose = Annotated[str, Field(min_length=1, max_length=2000, pattern=names.PROSE)]
FilePath = Annotated[str, Field(min_length=1, max_length=255, pattern=names.LINE)]
