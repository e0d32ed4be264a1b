-- Locks on PostgreSQL: no existing table.

-- The tables of the job queue are River's own. storage runs River's migrations as
-- part of this step: up to River's version 5.
