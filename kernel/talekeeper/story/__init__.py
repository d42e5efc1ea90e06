"""Sessions, the tree, records and jobs: a row and its index change in one transaction."""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.story.checks import check_line, check_name, check_value, check_workspace
    from talekeeper.story.indexing.index import IndexFault
    from talekeeper.story.indexing.vectors import WAY, Unembedded
    from talekeeper.story.jobs import Jobs, Unrecorded
    from talekeeper.story.ledger import MAX_BACKLOG, PUT_ASIDE, lacked
    from talekeeper.story.messages.messages import Messages
    from talekeeper.story.records.records import Records
    from talekeeper.story.records.versions import Order
    from talekeeper.story.sessions import is_owner
    from talekeeper.story.story import Story
    from talekeeper.story.turn_log import TurnLog
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
        scope_of,
    )
else:
    __getattr__ = lazy_face(__name__)

__all__ = [
    "MAX_BACKLOG",
    "PUT_ASIDE",
    "ROOT",
    "WAY",
    "Address",
    "Branch",
    "Coordinate",
    "Decision",
    "Derived",
    "Draft",
    "IndexFault",
    "Job",
    "JobState",
    "Jobs",
    "Message",
    "Messages",
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
    "TurnLog",
    "Unembedded",
    "Unrecorded",
    "Workspace",
    "check_line",
    "check_name",
    "check_value",
    "check_workspace",
    "is_owner",
    "lacked",
    "scope_of",
]
