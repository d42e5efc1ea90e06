-- What a call of a model cost, at the price that was configured when it was made.

-- In billionths of the currency; NULL where no price was configured, and then `currency` is '', or no token was counted.
ALTER TABLE usage ADD COLUMN cost INTEGER;
ALTER TABLE usage ADD COLUMN currency TEXT NOT NULL DEFAULT '';
