"""Sessions, the tree, records and jobs: a row and its index change in one transaction."""

from talekeeper.story.views import (
    ROOT,
    Address,
    Branch,
    Coordinate,
    Derived,
    Draft,
    Job,
    JobState,
    Message,
    Record,
    Role,
    Scope,
    Session,
    Take,
    TextRevision,
    Workspace,
)

__all__ = [
    "ROOT",
    "Address",
    "Branch",
    "Coordinate",
    "Derived",
    "Draft",
    "Job",
    "JobState",
    "Message",
    "Record",
    "Role",
    "Scope",
    "Session",
    "Take",
    "TextRevision",
    "Workspace",
]
