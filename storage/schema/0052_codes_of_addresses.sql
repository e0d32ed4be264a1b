-- Locks on PostgreSQL: verified_sender_starts (ACCESS EXCLUSIVE: reads and writes wait), for
-- milliseconds: no row is rewritten, and each lock ends with the migration.

-- Codes of verified senders are also counted for each address. subject is an owner, or the keyed
-- hash of an address in hexadecimal digits. started has the times of the last hour of an owner, and
-- of the last day of an address. latest is when a code was last requested, 0 for a row from before
-- this column; rows are deleted a day later.
ALTER TABLE verified_sender_starts RENAME COLUMN owner TO subject;
ALTER TABLE verified_sender_starts ADD COLUMN latest bigint NOT NULL DEFAULT 0;
CREATE INDEX verified_sender_starts_by_latest ON verified_sender_starts (latest);
