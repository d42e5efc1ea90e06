-- What turns leave behind beside their messages: what models were asked and counted, which records the narrator was
-- shown, and how each recall was decided. `branch` and `depth` are those of the narration.

-- `plugin` is '' for the narrator; tokens are NULL where the endpoint counted none.
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
    created TEXT NOT NULL,
    PRIMARY KEY (workspace, session, seq)
) STRICT, WITHOUT ROWID;

-- Grouped by key without sorting, and read for one namespace at a time.
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
