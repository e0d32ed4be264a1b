-- Locks on PostgreSQL: templates (ACCESS EXCLUSIVE: reads and writes wait), for milliseconds:
-- no row is rewritten, and each lock ends with the migration.

-- What an organization sets for all of its mail. An organization without a row has the
-- defaults. postal_address and asset_base_url are '' for none.
CREATE TABLE mail_settings (
	org_id bytetext NOT NULL PRIMARY KEY,
	language bytetext NOT NULL,
	postal_address text NOT NULL,
	unsubscribe_footer boolean NOT NULL,
	asset_base_url text NOT NULL,
	updated_at bigint NOT NULL
);

-- deploy_tried_at is the time of the last attempt to deploy a managed template, 0 for none.
-- deploy_claimed is true once the name was free in the account and Mailhelm began to use it.
ALTER TABLE templates ADD COLUMN deploy_tried_at bigint NOT NULL DEFAULT 0;
ALTER TABLE templates ADD COLUMN deploy_claimed boolean NOT NULL DEFAULT FALSE;
