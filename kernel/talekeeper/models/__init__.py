"""Clients of language models: slots, an OpenAI-compatible client, structured answers, no-model mode.

Importing this loads neither httpcore nor jsonschema_rs; the first call and the first structured answer do.
"""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.models.chat import (
        Cancel,
        ChatMessage,
        ChatModel,
        Reply,
        ReplyStream,
        Request,
        ToolCall,
        ToolOffer,
        Usage,
        chat_body,
        sampling_fault,
    )
    from talekeeper.models.client import Client
    from talekeeper.models.lenient_json import read_arguments, storable_text
    from talekeeper.models.secrets import EnvironmentKey, Redactor
    from talekeeper.models.settings import LocalServer, find_local_servers, open_models
    from talekeeper.models.slots import (
        BILLION,
        EMBEDDING,
        LOCAL,
        NARRATOR,
        NO_MODELS,
        SLOTS,
        Models,
        ProviderSettings,
        Slot,
        TimeLimits,
    )
    from talekeeper.models.source import FILE_NAME, LazyModels, ModelSource
    from talekeeper.models.structured import ask_structured
    from talekeeper.models.urls import BaseUrl, read_base_url
else:
    __getattr__ = lazy_face(__name__)

__all__ = [
    "BILLION",
    "EMBEDDING",
    "FILE_NAME",
    "LOCAL",
    "NARRATOR",
    "NO_MODELS",
    "SLOTS",
    "BaseUrl",
    "Cancel",
    "ChatMessage",
    "ChatModel",
    "Client",
    "EnvironmentKey",
    "LazyModels",
    "LocalServer",
    "ModelSource",
    "Models",
    "ProviderSettings",
    "Redactor",
    "Reply",
    "ReplyStream",
    "Request",
    "Slot",
    "TimeLimits",
    "ToolCall",
    "ToolOffer",
    "Usage",
    "ask_structured",
    "chat_body",
    "find_local_servers",
    "open_models",
    "read_arguments",
    "read_base_url",
    "sampling_fault",
    "storable_text",
]
