-- Locks on PostgreSQL: segments (SHARE ROW EXCLUSIVE: writes wait), until the end of the
-- migration. One row is inserted for each segment.

-- The number of members of a segment after its last evaluation on a UTC day. day is its
-- midnight in microseconds. A day without an evaluation has no row. Rows are deleted some
-- 400 days later.
CREATE TABLE segment_sizes (
	org_id bytetext NOT NULL,
	segment_id bytetext NOT NULL,
	day bigint NOT NULL,
	members bigint NOT NULL,
	PRIMARY KEY (org_id, segment_id, day),
	FOREIGN KEY (org_id, segment_id) REFERENCES segments (org_id, id) ON DELETE CASCADE
);
INSERT INTO segment_sizes (org_id, segment_id, day, members)
SELECT org_id, id, last_evaluated_at - last_evaluated_at % 86400000000, member_count FROM segments WHERE last_evaluated_at IS NOT NULL;
