-- Locks on PostgreSQL: river_job (ACCESS EXCLUSIVE: reads and writes of jobs wait) until its
-- index is built. Jobs are deleted after a day, so that takes less than a second.

-- River's version 6, a step of its own because PostgreSQL lets no transaction use
-- the enum value that version 4 adds before it is committed.
