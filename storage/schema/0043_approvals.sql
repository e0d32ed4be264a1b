-- Locks on PostgreSQL: no existing table.

-- Sends that wait for the approval of a person, and the decisions about them. asked_kind,
-- asked_by and asked_user name the caller. scheduled_at is the time of the send, NULL for at
-- once. digest is a hash of what a person approves, and preview a JSON object with what the
-- send would have done when it was asked for. state is pending, approved, rejected, voided or
-- expired, or unneeded for a scheduled send that did not have to wait. The row stays when the
-- broadcast is deleted.
CREATE TABLE send_approvals (
	org_id bytetext NOT NULL,
	id bytetext NOT NULL,
	broadcast_id bytetext NOT NULL,
	state bytetext NOT NULL,
	asked_kind bytetext NOT NULL,
	asked_by bytetext NOT NULL,
	asked_user bytetext NOT NULL,
	requested_at bigint NOT NULL,
	expires_at bigint NOT NULL,
	revision bigint NOT NULL,
	scheduled_at bigint,
	digest bytetext NOT NULL,
	preview text NOT NULL,
	decided_at bigint,
	decided_by bytetext NOT NULL,
	reason text NOT NULL,
	approved_size bigint NOT NULL,
	PRIMARY KEY (org_id, id)
);
CREATE INDEX send_approvals_newest ON send_approvals (org_id, requested_at, id);
CREATE INDEX send_approvals_of_broadcast ON send_approvals (org_id, broadcast_id, requested_at, id);
CREATE INDEX send_approvals_waiting ON send_approvals (org_id, expires_at) WHERE state = 'pending';
-- Which sends wait. application is the id of an OAuth client, '' for the organization. rule
-- is never, always, above or outside_lists. lists is a JSON array of the ids of lists.
CREATE TABLE send_policies (
	org_id bytetext NOT NULL,
	application bytetext NOT NULL,
	rule bytetext NOT NULL,
	above bigint NOT NULL,
	lists bytetext NOT NULL,
	also_people boolean NOT NULL,
	updated_at bigint NOT NULL,
	updated_by bytetext NOT NULL,
	PRIMARY KEY (org_id, application)
);
