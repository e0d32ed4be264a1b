-- Locks on PostgreSQL: river_job (SHARE: writes wait), until its index is built. Done jobs are
-- deleted after a day, so that takes milliseconds, or a second for a million jobs.

-- The failed jobs of an organization by age, for the job that deletes the old ones. Jobs that
-- have not failed for good are not in the index, and cost nothing.
CREATE INDEX river_job_failed ON river_job ((args ->> 'org_id'), finalized_at, id) WHERE state = 'discarded';
