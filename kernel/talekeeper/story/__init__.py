"""Sessions, the tree, records and jobs: a row and its index change in one transaction."""

from talekeeper.story.maintenance import IndexFault
from talekeeper.story.reading import Order
from talekeeper.story.records import Records, scope_of
from talekeeper.story.story import Story
from talekeeper.story.views import (
    ROOT,
    Address,
    Branch,
    Coordinate,
    Decision,
    Derived,
    Draft,
    Job,
    JobState,
    Message,
    ModelUse,
    Record,
    RecordUse,
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
    "Decision",
    "Derived",
    "Draft",
    "IndexFault",
    "Job",
    "JobState",
    "Message",
    "ModelUse",
    "Order",
    "Record",
    "RecordUse",
    "Records",
    "Role",
    "Scope",
    "Session",
    "Story",
    "Take",
    "TextRevision",
    "Workspace",
    "scope_of",
]
