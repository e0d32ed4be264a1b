package segments

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	// storeSize stores the segment's number of members as that of a day.
	storeSize = engine.Register("size of a segment on a day", `
		INSERT INTO segment_sizes (org_id, segment_id, day, members)
		SELECT org_id, id, CAST($1 AS bigint), member_count FROM segments WHERE org_id = $2 AND id = $3
		ON CONFLICT (org_id, segment_id, day) DO UPDATE SET members = excluded.members`)
	purgeSizes = engine.Register("purge sizes of a segment", `
		DELETE FROM segment_sizes WHERE org_id = $1 AND segment_id = $2 AND day < $3`)
	// sizesSince selects the sizes from a day on, and the last one before that day.
	sizesSince = engine.RegisterPoint("sizes of a segment", `
		SELECT day, members FROM segment_sizes WHERE org_id = $1 AND segment_id = $2 AND day >= coalesce(
			(SELECT max(earlier.day) FROM segment_sizes AS earlier WHERE earlier.org_id = $1 AND earlier.segment_id = $2 AND earlier.day <= $3), $3)
		ORDER BY day`)
)

// sizesKept is how long sizes of segments are stored.
const sizesKept = 400 * 24 * time.Hour

// sizeRow is a row of segment_sizes.
type sizeRow struct {
	Day     engine.Time `db:"day"`
	Members int         `db:"members"`
}

func (s MemberStore) SegmentSizes(ctx context.Context, orgID, segmentID string, since time.Time) ([]segments.Size, error) {
	return engine.ListAs(ctx, s.db, func(r sizeRow) segments.Size {
		return segments.Size{Day: r.Day.Time(), Members: r.Members}
	}, sizesSince, orgID, segmentID, engine.At(dayOf(since)))
}

// storeSize stores the current number of members as that of the day of at.
func (s MemberStore) storeSize(ctx context.Context, orgID, segmentID string, at time.Time) error {
	_, err := s.db.Exec(ctx, storeSize, engine.At(dayOf(at)), orgID, segmentID)
	return err
}

func dayOf(at time.Time) time.Time { return at.UTC().Truncate(24 * time.Hour) }
