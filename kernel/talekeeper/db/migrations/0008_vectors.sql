-- What passages mean, as vectors of an embedding model; empty while a home has none.

-- Vectors of two spaces cannot be compared. Another provider, model or version, or another way of writing passages down
-- for it, is another space.
CREATE TABLE vector_space (
    id INTEGER PRIMARY KEY,
    fingerprint TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE vector (
    part INTEGER NOT NULL,
    doc INTEGER NOT NULL,
    space INTEGER NOT NULL,
    batch INTEGER NOT NULL, -- rises with every transaction that writes some
    data BLOB NOT NULL, -- float16 values of a vector of length 1; empty where a passage has no text
    PRIMARY KEY (part, doc)
) STRICT;

CREATE INDEX vector_batch ON vector (part, batch);

-- Whatever takes a passage away takes its vector along, in the same transaction.
CREATE TRIGGER vector_of_passage AFTER DELETE ON doc
BEGIN
    DELETE FROM vector WHERE part = OLD.part AND doc = OLD.doc;
END;
