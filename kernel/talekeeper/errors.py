"""Every error a caller can meet, as one tree.

    TalekeeperError                 each carries data, builds its own sentence, says what to do next
    ├── InputError                  what the person, file or model gave is wrong (exit 1)
    │   ├── ParameterError          a named field of a tool, command or setting
    │   ├── ImportFileError         a named file and line
    │   ├── ManifestError           a manifest with its diagnostics
    │   └── NotFound                a session, plugin, record … that is not there
    ├── StoreError                  the database (exit 2)
    │   ├── StoreUnusable           damaged, from the future, wrong owner, read-only, disk full
    │   ├── LimitReached            a namespace at its declared limit (exit 1)
    │   ├── Conflict                compare-and-set or uniqueness lost (exit 1)
    │   └── Busy                    a lease is held by somebody else (exit 1)
    ├── ModelError                  a model or its endpoint (exit 1); what was asked can be asked again
    │   ├── NoModel                 none is configured for the slot
    │   ├── ContextOverflow         the request is longer than the model's context
    │   ├── RateLimited             too many requests, also after waiting
    │   ├── AuthFailed              the key is missing, unknown or not allowed this
    │   ├── ModelUnreachable        no connection, no answer in time, a fault of the endpoint
    │   └── BadReply                an answer that cannot be used
    ├── Cancelled                   somebody asked for the call to end
    ├── PluginError                 a plugin's fault, recorded against it
    │   ├── PermissionDenied        undeclared use
    │   └── ContextClosed           used after its call ended
    ├── Retry, Skip, UserError      what a plugin raises on purpose
    └── HeldAcrossCall              a call left the process while a write was open: a bug, never swallowed (exit 2)

A face prints `str(error)` and exits with `error.exit_code`; nobody who can cause one of these sees a traceback.
"""

from __future__ import annotations

from typing import Any, ClassVar

__all__ = [
    "AuthFailed",
    "BadReply",
    "Busy",
    "Cancelled",
    "Conflict",
    "ContextClosed",
    "ContextOverflow",
    "HeldAcrossCall",
    "ImportFileError",
    "InputError",
    "LimitReached",
    "ManifestError",
    "ModelError",
    "ModelUnreachable",
    "NoModel",
    "NotFound",
    "ParameterError",
    "PermissionDenied",
    "PluginError",
    "RateLimited",
    "Retry",
    "Skip",
    "StoreError",
    "StoreUnusable",
    "TalekeeperError",
    "UserError",
]


class TalekeeperError(Exception):
    """One sentence for a person, and the data it was made from.

    `what` names the thing and the fault, `where` the file, line, field or row, `cure` the next step.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, what: str, *, where: str = "", cure: str = "", **data: Any) -> None:
        self.what = what
        self.where = where
        self.cure = cure
        self.data = data
        super().__init__(self.sentence())

    def sentence(self) -> str:
        """Joins the three parts as `where: what; cure`, leaving out what is empty."""
        head = f"{self.where}: {self.what}" if self.where else self.what
        return f"{head}; {self.cure}" if self.cure else head


class InputError(TalekeeperError):
    """The input is at fault; nothing already accepted was lost."""


class ParameterError(InputError):
    """A named field of a tool call, command or setting; `field` says which."""

    def __init__(self, field: str, what: str, *, cure: str = "") -> None:
        self.field = field
        super().__init__(what, where=field, cure=cure)


class ImportFileError(InputError):
    """A line of a file that cannot be read; lines before it are kept."""

    def __init__(self, path: str, line: int | None, what: str, *, cure: str = "") -> None:
        self.path = path
        self.line = line
        where = path if line is None else f"{path}:{line}"
        super().__init__(what, where=where, cure=cure)


class ManifestError(InputError):
    """A manifest that does not hold; `data["diagnostics"]` has the list."""


class NotFound(InputError):
    """The named thing does not exist here."""


class StoreError(TalekeeperError):
    """The database refused or cannot be used."""

    exit_code = 2


class StoreUnusable(StoreError):
    """The database cannot be opened or written; nothing was changed and no fresh one was made."""


class LimitReached(StoreError):
    """A namespace holds as many live records as its manifest allows."""

    exit_code = 1


class Conflict(StoreError):
    """Somebody else was first: a compare-and-set or a unique key did not hold."""

    exit_code = 1


class Busy(StoreError):
    """A lease is held elsewhere; `data["holder"]` says by whom when it is known."""

    exit_code = 1


class ModelError(TalekeeperError):
    """A call to a model that gave nothing; `data` has the `slot`, and the HTTP `status` where there was one.

    What the endpoint said is in the sentence with keys and long tokens taken out.
    """


class NoModel(ModelError):
    """No model is configured for the slot; what needs one waits."""


class ContextOverflow(ModelError):
    """The request is longer than the model's context."""


class RateLimited(ModelError):
    """The endpoint wants fewer requests; `data["retry_after"]` has the seconds it asked for, None when it did not."""


class AuthFailed(ModelError):
    """The endpoint did not accept the key, or the key cannot be read."""


class ModelUnreachable(ModelError):
    """No connection, no answer in time, or a fault of the endpoint that repeating did not mend."""


class BadReply(ModelError):
    """The endpoint refused the request or answered something that cannot be used."""


class Cancelled(TalekeeperError):
    """The call was ended because somebody asked for it; its connection is closed."""


class PluginError(TalekeeperError):
    """A plugin's fault; the host goes on without it."""


class PermissionDenied(PluginError):
    """A use the manifest does not declare; the cure names what to declare."""


class ContextClosed(PluginError):
    """A `PluginContext` used after the call it was made for had ended."""


class Retry(TalekeeperError):
    """Raised by a plugin: try this again, after `after` seconds when given."""

    def __init__(self, reason: str, after: float | None = None) -> None:
        self.after = after
        super().__init__(reason)


class Skip(TalekeeperError):
    """Raised by a plugin: there is nothing to do here, and why."""


class UserError(TalekeeperError):
    """Raised by a plugin: a sentence to show the person as it is."""


class HeldAcrossCall(TalekeeperError):
    """A model, HTTP, tool, hook or file call was made while a write transaction was open."""

    exit_code = 2
