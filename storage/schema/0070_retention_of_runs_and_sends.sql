-- Locks on PostgreSQL: workflow_events, handover_recipients (SHARE: writes wait), until the end
-- of the migration. Writes wait until the indexes are built: some seconds for a million rows.

-- Old entries of timelines, which are deleted by their age.
CREATE INDEX workflow_events_by_age ON workflow_events (org_id, occurred_at);
-- Old recipients with an outcome, which are deleted by its age.
CREATE INDEX handover_recipients_by_age ON handover_recipients (org_id, changed_at) WHERE state IN ('sent', 'failed', 'filtered');
