-- Sessions, their trees, records, jobs and leases. `workspace` leads every key, so that the tables can be partitioned by
-- it. Times are UTC ISO-8601 with milliseconds, except message.time, which is as the story gives it. Documents are
-- canonical JSON.

CREATE TABLE workspace (
    workspace TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    created TEXT NOT NULL,
    deleting INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
    workspace TEXT NOT NULL REFERENCES workspace,
    id TEXT NOT NULL,
    title TEXT NOT NULL,
    preset TEXT NOT NULL,
    owner TEXT NOT NULL,
    channel TEXT NOT NULL,
    locale TEXT NOT NULL,
    plugins TEXT NOT NULL,
    settings TEXT NOT NULL,
    head_branch INTEGER NOT NULL,
    head_depth INTEGER NOT NULL,
    redo_branch INTEGER,
    redo_depth INTEGER,
    messages INTEGER NOT NULL,
    branches INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    created TEXT NOT NULL,
    updated TEXT NOT NULL,
    deleting INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace, id)
) STRICT, WITHOUT ROWID;

-- A branch grows from the message at (parent, fork_depth); its own messages begin one deeper. Ids rise along every
-- lineage, so ordering by (branch, depth) is ordering by depth.
CREATE TABLE branch (
    workspace TEXT NOT NULL,
    session TEXT NOT NULL,
    id INTEGER NOT NULL,
    parent INTEGER NOT NULL,
    fork_depth INTEGER NOT NULL,
    name TEXT NOT NULL,
    created TEXT NOT NULL,
    PRIMARY KEY (workspace, session, id),
    FOREIGN KEY (workspace, session) REFERENCES session (workspace, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX branch_fork ON branch (workspace, session, parent, fork_depth);

-- The lineage of the session's head, kept so that reading it costs the same however often the story was retried.
CREATE TABLE lineage (
    workspace TEXT NOT NULL,
    session TEXT NOT NULL,
    branch INTEGER NOT NULL,
    upto INTEGER NOT NULL,
    PRIMARY KEY (workspace, session, branch),
    FOREIGN KEY (workspace, session, branch) REFERENCES branch (workspace, session, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE message (
    workspace TEXT NOT NULL,
    session TEXT NOT NULL,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    ref TEXT,
    branch INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('player', 'narrator', 'tool', 'system')),
    kind TEXT NOT NULL,
    speaker TEXT NOT NULL,
    text TEXT NOT NULL,
    time TEXT,
    origin TEXT NOT NULL CHECK (origin IN ('typed', 'pasted', 'tool', 'imported', 'generated')),
    caption TEXT NOT NULL,
    extra TEXT NOT NULL,
    created TEXT NOT NULL,
    written TEXT NOT NULL,
    revision INTEGER NOT NULL DEFAULT 0,
    hidden INTEGER NOT NULL DEFAULT 0,
    deleted INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace, session, id),
    FOREIGN KEY (workspace, session, branch) REFERENCES branch (workspace, session, id)
) STRICT;

CREATE UNIQUE INDEX message_place ON message (workspace, session, branch, depth);

CREATE UNIQUE INDEX message_seq ON message (workspace, session, seq);

CREATE UNIQUE INDEX message_ref ON message (workspace, session, ref) WHERE ref IS NOT NULL;

-- The texts a message had before its present one.
CREATE TABLE message_text (
    workspace TEXT NOT NULL,
    session TEXT NOT NULL,
    message TEXT NOT NULL,
    revision INTEGER NOT NULL,
    text TEXT NOT NULL,
    written TEXT NOT NULL,
    PRIMARY KEY (workspace, session, message, revision),
    FOREIGN KEY (workspace, session, message) REFERENCES message (workspace, session, id)
) STRICT;

-- Versions of records. `revision` counts them per key; branch and depth say where a version stands ((0, -1) lies on
-- every lineage); range_start..range_end are the depths it was made from.
CREATE TABLE record (
    workspace TEXT NOT NULL REFERENCES workspace,
    preset TEXT NOT NULL,
    session TEXT NOT NULL,
    plugin TEXT NOT NULL,
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    revision INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    branch INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    value TEXT NOT NULL,
    version INTEGER NOT NULL,
    created TEXT NOT NULL,
    turn INTEGER NOT NULL,
    turn_from INTEGER NOT NULL,
    range_start INTEGER,
    range_end INTEGER,
    job TEXT NOT NULL,
    dedupe TEXT,
    person INTEGER NOT NULL,
    withdrawn INTEGER NOT NULL,
    forgotten INTEGER NOT NULL DEFAULT 0,
    source_edited INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace, preset, session, plugin, namespace, key, revision)
) STRICT;

CREATE INDEX record_dedupe ON record (workspace, preset, session, plugin, namespace, dedupe) WHERE dedupe IS NOT NULL;

CREATE INDEX record_range ON record (workspace, session, range_end) WHERE range_end IS NOT NULL;

-- How many keys and versions a namespace holds in one scope: a limit that is far away costs one look here.
CREATE TABLE tally (
    workspace TEXT NOT NULL,
    preset TEXT NOT NULL,
    session TEXT NOT NULL,
    plugin TEXT NOT NULL,
    namespace TEXT NOT NULL,
    keys INTEGER NOT NULL,
    versions INTEGER NOT NULL,
    PRIMARY KEY (workspace, preset, session, plugin, namespace)
) STRICT, WITHOUT ROWID;

-- The search table each namespace is indexed by, '' when it is not searched. Records are always indexed by what stands
-- here, never by a manifest alone.
CREATE TABLE declared (
    workspace TEXT NOT NULL REFERENCES workspace,
    plugin TEXT NOT NULL,
    namespace TEXT NOT NULL,
    search TEXT NOT NULL,
    PRIMARY KEY (workspace, plugin, namespace)
) STRICT, WITHOUT ROWID;

-- Long work on the rows or their index that is due, taken up again by whoever maintains the store next.
CREATE TABLE upkeep (
    workspace TEXT NOT NULL,
    task TEXT NOT NULL CHECK (task IN ('reindex', 'delete')),
    session TEXT NOT NULL,
    plugin TEXT NOT NULL,
    namespace TEXT NOT NULL,
    since TEXT NOT NULL,
    PRIMARY KEY (workspace, task, session, plugin, namespace)
) STRICT, WITHOUT ROWID;

CREATE TABLE job (
    workspace TEXT NOT NULL,
    session TEXT NOT NULL,
    id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    plugin TEXT NOT NULL,
    kind TEXT NOT NULL,
    branch INTEGER NOT NULL,
    range_start INTEGER NOT NULL,
    range_end INTEGER NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'running', 'succeeded', 'reopened', 'failed', 'skipped')),
    attempts INTEGER NOT NULL,
    did_work INTEGER NOT NULL,
    covered_start INTEGER,
    covered_end INTEGER,
    reason TEXT NOT NULL,
    not_before TEXT,
    details TEXT NOT NULL,
    fence INTEGER NOT NULL,
    created TEXT NOT NULL,
    updated TEXT NOT NULL,
    PRIMARY KEY (workspace, session, id),
    FOREIGN KEY (workspace, session, branch) REFERENCES branch (workspace, session, id)
) STRICT;

CREATE UNIQUE INDEX job_seq ON job (workspace, session, seq);

CREATE UNIQUE INDEX job_once ON job (workspace, session, plugin, kind, branch, range_start, range_end);

-- What is still to be done stays small however long the ledger grows.
CREATE INDEX job_open ON job (workspace, session, attempts, seq)
WHERE state IN ('pending', 'running', 'reopened', 'failed');

-- Each taking of a lease raises its fence; the lock itself is a file (see db.leases).
CREATE TABLE lease (
    workspace TEXT NOT NULL,
    name TEXT NOT NULL,
    fence INTEGER NOT NULL,
    holder TEXT NOT NULL,
    taken TEXT NOT NULL,
    PRIMARY KEY (workspace, name)
) STRICT, WITHOUT ROWID;
