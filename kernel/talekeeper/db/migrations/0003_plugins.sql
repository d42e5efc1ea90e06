-- What people decide about plugins, and how far each plugin's declared data has been brought. An empty workspace is the
-- home, an empty session the workspace as a whole.

CREATE TABLE plugin_switch (
    workspace TEXT NOT NULL,
    session TEXT NOT NULL,
    plugin TEXT NOT NULL,
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    changed TEXT NOT NULL,
    PRIMARY KEY (workspace, session, plugin)
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

-- Why the code of a plugin did not load when it was last tried. `stamp` is that of its version and files: a changed
-- plugin is tried again.
CREATE TABLE plugin_fault (
    workspace TEXT NOT NULL,
    plugin TEXT NOT NULL,
    stamp TEXT NOT NULL,
    reason TEXT NOT NULL,
    changed TEXT NOT NULL,
    PRIMARY KEY (workspace, plugin)
) STRICT, WITHOUT ROWID;

-- The version that a workspace's stored records of a namespace have.
CREATE TABLE plugin_namespace (
    workspace TEXT NOT NULL,
    plugin TEXT NOT NULL,
    namespace TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (workspace, plugin, namespace)
) STRICT, WITHOUT ROWID;

-- The seed a scope was given last: `digest` is that of its files.
CREATE TABLE plugin_seed (
    workspace TEXT NOT NULL,
    preset TEXT NOT NULL,
    session TEXT NOT NULL,
    plugin TEXT NOT NULL,
    namespace TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (workspace, preset, session, plugin, namespace)
) STRICT, WITHOUT ROWID;

-- Each record of it, so that an upgrade can tell an untouched record from an edited one.
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

-- Rows of the home stand under no workspace, so no foreign key can take these along with a deleted one.
CREATE TRIGGER plugin_session_deleted AFTER DELETE ON session
BEGIN
    DELETE FROM plugin_switch WHERE workspace = OLD.workspace AND session = OLD.id;
    DELETE FROM plugin_setting WHERE workspace = OLD.workspace AND session = OLD.id;
    DELETE FROM plugin_seed WHERE workspace = OLD.workspace AND session = OLD.id;
    DELETE FROM plugin_seed_record WHERE workspace = OLD.workspace AND session = OLD.id;
END;

CREATE TRIGGER plugin_workspace_deleted AFTER DELETE ON workspace
BEGIN
    DELETE FROM plugin_switch WHERE workspace = OLD.workspace;
    DELETE FROM plugin_setting WHERE workspace = OLD.workspace;
    DELETE FROM plugin_namespace WHERE workspace = OLD.workspace;
    DELETE FROM plugin_seed WHERE workspace = OLD.workspace;
    DELETE FROM plugin_seed_record WHERE workspace = OLD.workspace;
END;
