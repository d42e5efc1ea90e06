-- The fingerprint of the tokeniser that made all terms of a partition, '' where several did or where its content is in
-- the making. So that what has to be made anew is found without reading the tail of every partition.

ALTER TABLE part ADD COLUMN tokens TEXT NOT NULL DEFAULT '';

UPDATE part SET tokens = coalesce((
    SELECT min(held.tokens) FROM (
        SELECT part, tokens FROM segment UNION ALL SELECT part, tokens FROM tail
    ) AS held
    WHERE held.part = part.id HAVING min(held.tokens) = max(held.tokens)
), '');

CREATE INDEX part_tokens ON part (tokens);
