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
    "IndexFault",
    "Job",
    "JobState",
    "Message",
    "Order",
    "Record",
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
