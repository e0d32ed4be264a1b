-- The time since when the operator keeps a person from signing in; null for all others.
ALTER TABLE users ADD COLUMN disabled_at bigint;
