-- Packages of plugins whose large seeds were held against their record schemas and found sound. `stamp` is that of the
-- package's files: a package that changed is read line by line again. What the home found stands under no workspace.

CREATE TABLE plugin_sound_seed (
    workspace TEXT NOT NULL,
    place TEXT NOT NULL,
    stamp TEXT NOT NULL,
    PRIMARY KEY (workspace, place)
) STRICT, WITHOUT ROWID;
