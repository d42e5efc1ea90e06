"""Clients of language models: slots, an OpenAI-compatible client, structured answers, no-model mode.

Importing this loads neither httpx nor jsonschema nor pydantic; the first call, structured answer and configuration do.
"""

from __future__ import annotations

from talekeeper.models.body import sampling_fault
from talekeeper.models.chat import (
    Cancel,
    ChatMessage,
    ChatModel,
    Embedder,
    Reply,
    ReplyStream,
    Request,
    ToolCall,
    ToolOffer,
    Usage,
)
from talekeeper.models.local import LocalServer, find_local_servers
from talekeeper.models.plain import read_arguments
from talekeeper.models.provided import LOCAL, Provided
from talekeeper.models.redact import Redactor
from talekeeper.models.settings import EMBEDDING, NARRATOR, SLOTS, Slot, TimeLimits
from talekeeper.models.slots import NO_MODELS, Models, ModelSource, ModelsWhenAsked, open_models
from talekeeper.models.structured import Structured, structured

__all__ = [
    "EMBEDDING",
    "LOCAL",
    "NARRATOR",
    "NO_MODELS",
    "SLOTS",
    "Cancel",
    "ChatMessage",
    "ChatModel",
    "Embedder",
    "LocalServer",
    "ModelSource",
    "Models",
    "ModelsWhenAsked",
    "Provided",
    "Redactor",
    "Reply",
    "ReplyStream",
    "Request",
    "Slot",
    "Structured",
    "TimeLimits",
    "ToolCall",
    "ToolOffer",
    "Usage",
    "find_local_servers",
    "open_models",
    "read_arguments",
    "sampling_fault",
    "structured",
]
