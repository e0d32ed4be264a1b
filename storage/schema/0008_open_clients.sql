-- Locks on PostgreSQL: clients (ACCESS EXCLUSIVE: reads and writes wait); api_keys, grants
-- (SHARE: writes wait), for milliseconds: no row is rewritten, and each lock ends with the
-- migration.

-- Clients that belong to no organization have the empty org_id: those that a
-- metadata document describes, whose client_id is its address, and those that
-- registered themselves.
ALTER TABLE clients ADD COLUMN kind text NOT NULL DEFAULT 'registered';
-- When the metadata document was last read and found good.
ALTER TABLE clients ADD COLUMN document_read_at bigint;

-- The clients that an organization does not let in, by their public client id.
CREATE TABLE blocked_clients (
	org_id bytetext NOT NULL,
	client_id bytetext NOT NULL,
	blocked_at bigint NOT NULL,
	PRIMARY KEY (org_id, client_id)
);

-- Clients that registered themselves are counted and forgotten over all
-- organizations, and with them it is asked whether anybody ever let them in.
CREATE INDEX clients_dynamic ON clients (created_at) WHERE kind = 'dynamic';
CREATE INDEX grants_anywhere_by_client ON grants (client_id);

-- For the end of rotated keys' grace, which is looked for over all organizations.
CREATE INDEX api_keys_grace ON api_keys (expires_at) WHERE revoked_at IS NULL;
