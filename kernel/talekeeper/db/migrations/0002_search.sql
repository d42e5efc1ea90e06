-- The search index. A partition (`part`) is what one query normally covers: a session, a workspace's records, a
-- preset's records. Everything below belongs to one partition; passages are numbered in it from 0 and no number is
-- used twice.

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
    purge INTEGER NOT NULL, -- 1 while removed words must still be wiped out of segments
    UNIQUE (workspace, session, preset)
) STRICT;

-- Numbers for partitions and segments that must never be given out twice, since processes cache by them.
CREATE TABLE search_counter (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE part_source (
    part INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    plugin TEXT NOT NULL,
    namespace TEXT NOT NULL,
    id INTEGER NOT NULL, -- 0 is messages
    PRIMARY KEY (part, kind, plugin, namespace)
) STRICT, WITHOUT ROWID;

-- Live passages only. What a filter needs is in the tail or in the segment's columns.
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

-- This key order keeps a flush's rows together: 0.6 MB of log a flush; (term, segment) writes 11.6 MB.
CREATE TABLE posting (
    segment INTEGER NOT NULL,
    term TEXT NOT NULL,
    data BLOB NOT NULL, -- search/codec.py
    PRIMARY KEY (segment, term)
) STRICT, WITHOUT ROWID;

-- Passages removed from a segment that still holds their words.
CREATE TABLE dead (
    part INTEGER NOT NULL,
    removal INTEGER NOT NULL, -- numbered from 1 in the partition
    doc INTEGER NOT NULL,
    stamp INTEGER NOT NULL,
    PRIMARY KEY (part, removal)
) STRICT, WITHOUT ROWID;

-- Segments no partition has any more; their postings are deleted a stretch at a time.
CREATE TABLE retired (segment INTEGER PRIMARY KEY) STRICT;
