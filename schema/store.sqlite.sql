-- The schema of a new database, in order of names; made by scripts/make_store_schema.py.

PRAGMA user_version = 9;

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

CREATE TABLE dead (
    part INTEGER NOT NULL,
    removal INTEGER NOT NULL, -- numbered from 1 in the partition
    doc INTEGER NOT NULL,
    stamp INTEGER NOT NULL,
    PRIMARY KEY (part, removal)
) STRICT, WITHOUT ROWID;

CREATE TABLE decision (
    workspace TEXT NOT NULL,
    session TEXT NOT NULL,
    id TEXT NOT NULL,
    turn INTEGER NOT NULL,
    branch INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    plugin TEXT NOT NULL,
    segment TEXT NOT NULL,
    created TEXT NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (workspace, session, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX decision_turn ON decision (workspace, session, turn);

CREATE TABLE declared (
    workspace TEXT NOT NULL REFERENCES workspace,
    plugin TEXT NOT NULL,
    namespace TEXT NOT NULL,
    search TEXT NOT NULL,
    PRIMARY KEY (workspace, plugin, namespace)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER vector_of_passage AFTER DELETE ON doc
BEGIN
    DELETE FROM vector WHERE part = OLD.part AND doc = OLD.doc;
END;

CREATE TABLE doc (
    part INTEGER NOT NULL,
    doc INTEGER NOT NULL,
    source INTEGER NOT NULL,
    key TEXT NOT NULL,
    revision INTEGER NOT NULL,
    slot INTEGER NOT NULL, -- the first passage number of this key: what its versions have in common
    digest INTEGER NOT NULL,
    PRIMARY KEY (part, doc)
) STRICT, WITHOUT ROWID;

CREATE INDEX doc_key ON doc (part, source, key);

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
    updated TEXT NOT NULL, covered_branch INTEGER,
    PRIMARY KEY (workspace, session, id),
    FOREIGN KEY (workspace, session, branch) REFERENCES branch (workspace, session, id)
) STRICT;

CREATE UNIQUE INDEX job_once ON job (workspace, session, plugin, kind, branch, range_start, range_end);

CREATE INDEX job_open ON job (workspace, session, attempts, seq)
WHERE state IN ('pending', 'running', 'reopened', 'failed');

CREATE UNIQUE INDEX job_seq ON job (workspace, session, seq);

CREATE TABLE lease (
    workspace TEXT NOT NULL,
    name TEXT NOT NULL,
    fence INTEGER NOT NULL,
    holder TEXT NOT NULL,
    taken TEXT NOT NULL,
    PRIMARY KEY (workspace, name)
) STRICT, WITHOUT ROWID;

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

CREATE UNIQUE INDEX message_ref ON message (workspace, session, ref) WHERE ref IS NOT NULL;

CREATE UNIQUE INDEX message_seq ON message (workspace, session, seq);

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

CREATE TABLE part (
    id INTEGER PRIMARY KEY,
    workspace TEXT NOT NULL,
    session TEXT NOT NULL, -- '' for what belongs to a workspace or preset
    preset TEXT NOT NULL, -- '' for what belongs to a workspace or session
    docs INTEGER NOT NULL, -- the next passage number
    settled INTEGER NOT NULL, -- passages below this number are in segments, the others in the tail
    removals INTEGER NOT NULL, -- tombstones ever written
    layout INTEGER NOT NULL, -- raised when the set of segments changes
    stamp INTEGER NOT NULL, -- a random number written with every change: equal stamps, equal content
    purge INTEGER NOT NULL, tokens TEXT NOT NULL DEFAULT '', -- 1 while removed words must still be wiped out of segments
    UNIQUE (workspace, session, preset)
) STRICT;

CREATE INDEX part_tokens ON part (tokens);

CREATE TABLE part_source (
    part INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    plugin TEXT NOT NULL,
    namespace TEXT NOT NULL,
    id INTEGER NOT NULL, -- 0 is messages
    PRIMARY KEY (part, kind, plugin, namespace)
) STRICT, WITHOUT ROWID;

CREATE TABLE plugin_fault (
    workspace TEXT NOT NULL,
    plugin TEXT NOT NULL,
    stamp TEXT NOT NULL,
    reason TEXT NOT NULL,
    changed TEXT NOT NULL,
    PRIMARY KEY (workspace, plugin)
) STRICT, WITHOUT ROWID;

CREATE TABLE plugin_namespace (
    workspace TEXT NOT NULL,
    plugin TEXT NOT NULL,
    namespace TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (workspace, plugin, namespace)
) STRICT, WITHOUT ROWID;

CREATE TABLE plugin_seed (
    workspace TEXT NOT NULL,
    preset TEXT NOT NULL,
    session TEXT NOT NULL,
    plugin TEXT NOT NULL,
    namespace TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (workspace, preset, session, plugin, namespace)
) STRICT, WITHOUT ROWID;

CREATE TABLE plugin_seed_record (
    workspace TEXT NOT NULL,
    preset TEXT NOT NULL,
    session TEXT NOT NULL,
    plugin TEXT NOT NULL,
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (workspace, preset, session, plugin, namespace, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE plugin_setting (
    workspace TEXT NOT NULL,
    session TEXT NOT NULL,
    plugin TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    changed TEXT NOT NULL,
    PRIMARY KEY (workspace, session, plugin, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE plugin_sound_seed (
    workspace TEXT NOT NULL,
    place TEXT NOT NULL,
    stamp TEXT NOT NULL,
    PRIMARY KEY (workspace, place)
) STRICT, WITHOUT ROWID;

CREATE TABLE plugin_switch (
    workspace TEXT NOT NULL,
    session TEXT NOT NULL,
    plugin TEXT NOT NULL,
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    changed TEXT NOT NULL,
    PRIMARY KEY (workspace, session, plugin)
) STRICT, WITHOUT ROWID;

CREATE TABLE posting (
    segment INTEGER NOT NULL,
    term TEXT NOT NULL,
    data BLOB NOT NULL, -- search/codec.py
    PRIMARY KEY (segment, term)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE retired (segment INTEGER PRIMARY KEY) STRICT;

CREATE TABLE search_counter (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE segment (
    id INTEGER PRIMARY KEY,
    part INTEGER NOT NULL,
    lo INTEGER NOT NULL, -- passage numbers lo to hi - 1
    hi INTEGER NOT NULL,
    level INTEGER NOT NULL,
    n INTEGER NOT NULL, -- passages held, the dead among them
    tokens TEXT NOT NULL,
    columns BLOB NOT NULL -- n values of each column one after the other: search/columns.py
) STRICT;

CREATE INDEX segment_part ON segment (part, lo);

CREATE TRIGGER plugin_session_deleted AFTER DELETE ON session
BEGIN
    DELETE FROM plugin_switch WHERE workspace = OLD.workspace AND session = OLD.id;
    DELETE FROM plugin_setting WHERE workspace = OLD.workspace AND session = OLD.id;
    DELETE FROM plugin_seed WHERE workspace = OLD.workspace AND session = OLD.id;
    DELETE FROM plugin_seed_record WHERE workspace = OLD.workspace AND session = OLD.id;
END;

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

CREATE TABLE tail (
    part INTEGER NOT NULL,
    doc INTEGER NOT NULL,
    stamp INTEGER NOT NULL, -- the partition's stamp after this passage was added
    tokens TEXT NOT NULL, -- fingerprint of the tokeniser that made the terms
    branch INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    length INTEGER NOT NULL,
    flags INTEGER NOT NULL,
    terms TEXT NOT NULL, -- a JSON object, term to occurrences
    PRIMARY KEY (part, doc)
) STRICT, WITHOUT ROWID;

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

CREATE TABLE upkeep (
    workspace TEXT NOT NULL,
    task TEXT NOT NULL CHECK (task IN ('reindex', 'delete')),
    session TEXT NOT NULL,
    plugin TEXT NOT NULL,
    namespace TEXT NOT NULL,
    since TEXT NOT NULL,
    PRIMARY KEY (workspace, task, session, plugin, namespace)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage (
    workspace TEXT NOT NULL,
    session TEXT NOT NULL,
    seq INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    plugin TEXT NOT NULL,
    slot TEXT NOT NULL,
    model TEXT NOT NULL,
    prompt INTEGER,
    completion INTEGER,
    created TEXT NOT NULL, cost INTEGER, currency TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (workspace, session, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE use (
    workspace TEXT NOT NULL,
    session TEXT NOT NULL,
    plugin TEXT NOT NULL,
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    branch INTEGER NOT NULL,
    depth INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    PRIMARY KEY (workspace, session, plugin, namespace, key, branch, depth)
) STRICT, WITHOUT ROWID;

CREATE TABLE vector (
    part INTEGER NOT NULL,
    doc INTEGER NOT NULL,
    space INTEGER NOT NULL,
    batch INTEGER NOT NULL, -- rises with every transaction that writes some
    data BLOB NOT NULL, -- float16 values of a vector of length 1; empty where a passage has no text
    PRIMARY KEY (part, doc)
) STRICT;

CREATE INDEX vector_batch ON vector (part, batch);

CREATE TABLE vector_space (
    id INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE
) STRICT;

CREATE TRIGGER plugin_workspace_deleted AFTER DELETE ON workspace
BEGIN
    DELETE FROM plugin_switch WHERE workspace = OLD.workspace;
    DELETE FROM plugin_setting WHERE workspace = OLD.workspace;
    DELETE FROM plugin_namespace WHERE workspace = OLD.workspace;
    DELETE FROM plugin_seed WHERE workspace = OLD.workspace;
    DELETE FROM plugin_seed_record WHERE workspace = OLD.workspace;
END;

CREATE TABLE workspace (
    workspace TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    created TEXT NOT NULL,
    deleting INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
