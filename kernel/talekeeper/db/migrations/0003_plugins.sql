-- What people decide about plugins, and how far each plugin's declared data has been brought. An empty workspace is the
-- home, an empty session the workspace as a whole.

CREATE TABLE plugin_switch (
    workspace TEXT NOT NULL,
    session   TEXT NOT NULL,
    plugin    TEXT NOT NULL,
    enabled   INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    changed   TEXT NOT NULL,
    PRIMARY KEY (workspace, session, plugin)
) STRICT, WITHOUT ROWID;

CREATE TABLE plugin_setting (
    workspace TEXT NOT NULL,
    session   TEXT NOT NULL,
    plugin    TEXT NOT NULL,
    name      TEXT NOT NULL,
    value     TEXT NOT NULL,
    changed   TEXT NOT NULL,
    PRIMARY KEY (workspace, session, plugin, name)
) STRICT, WITHOUT ROWID;

-- Why the code of this version of a plugin did not load when it was last tried; gone once it loads.
CREATE TABLE plugin_fault (
    workspace TEXT NOT NULL,
    plugin    TEXT NOT NULL,
    version   TEXT NOT NULL,
    reason    TEXT NOT NULL,
    changed   TEXT NOT NULL,
    PRIMARY KEY (workspace, plugin)
) STRICT, WITHOUT ROWID;

-- `version` and `fingerprint` (of the search table) that a workspace's stored records and their index are at.
-- `indexing` is 1 from the moment a difference is seen until the index has been rebuilt.
CREATE TABLE plugin_namespace (
    workspace   TEXT NOT NULL,
    plugin      TEXT NOT NULL,
    namespace   TEXT NOT NULL,
    version     INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    indexing    INTEGER NOT NULL DEFAULT 0 CHECK (indexing IN (0, 1)),
    PRIMARY KEY (workspace, plugin, namespace)
) STRICT, WITHOUT ROWID;

-- The seed a scope was given last: `digest` of all its lines.
CREATE TABLE plugin_seed (
    workspace TEXT NOT NULL,
    preset    TEXT NOT NULL,
    session   TEXT NOT NULL,
    plugin    TEXT NOT NULL,
    namespace TEXT NOT NULL,
    digest    TEXT NOT NULL,
    PRIMARY KEY (workspace, preset, session, plugin, namespace)
) STRICT, WITHOUT ROWID;

-- And each record of it, so that an upgrade can tell an untouched record from an edited one.
CREATE TABLE plugin_seed_record (
    workspace TEXT NOT NULL,
    preset    TEXT NOT NULL,
    session   TEXT NOT NULL,
    plugin    TEXT NOT NULL,
    namespace TEXT NOT NULL,
    key       TEXT NOT NULL,
    digest    TEXT NOT NULL,
    PRIMARY KEY (workspace, preset, session, plugin, namespace, key)
) STRICT, WITHOUT ROWID;
