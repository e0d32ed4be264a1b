-- Locks on PostgreSQL: workflow_runs (ACCESS EXCLUSIVE: reads and writes wait), until the end
-- of the migration. Reads and writes of workflow_runs wait until the index is built: some
-- seconds for a million rows.

-- The status comes before the workflow, so that a query for one run cannot use this index.
-- PostgreSQL used it instead of the primary key while the table had no statistics.
DROP INDEX workflow_runs_by_status;
CREATE INDEX workflow_runs_by_status ON workflow_runs (org_id, status, workflow_id, id);
