-- What a job covers stands at the last message it covers, which may lie on an earlier branch than the job's own end: a
-- retry of the newest turn then leaves it covered.
ALTER TABLE job ADD COLUMN covered_branch INTEGER;

UPDATE job SET covered_branch = branch WHERE covered_end IS NOT NULL;
