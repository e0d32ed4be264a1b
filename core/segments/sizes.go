package segments

import (
	"context"
	"time"
)

// Size is the number of members of a segment at the end of a UTC day, which begins at Day.
// The size of the present day is that after the last evaluation.
type Size struct {
	Day     time.Time
	Members int
}

// Sizes returns the sizes of a segment on the last days, today included, oldest first. A
// day without an evaluation has the size of the day before. The result begins with the
// first day whose size is known, so it may have fewer entries than days, or none.
func (a Author) Sizes(ctx context.Context, orgID, segmentID string, days int) ([]Size, error) {
	today := a.Clock().UTC().Truncate(24 * time.Hour)
	first := today.AddDate(0, 0, 1-days)
	stored, err := a.Members.SegmentSizes(ctx, orgID, segmentID, first)
	if err != nil {
		return nil, err
	}
	var sizes []Size
	for day := first; !day.After(today); day = day.AddDate(0, 0, 1) {
		for len(stored) > 1 && !stored[1].Day.After(day) {
			stored = stored[1:]
		}
		if len(stored) > 0 && !stored[0].Day.After(day) {
			sizes = append(sizes, Size{Day: day, Members: stored[0].Members})
		}
	}
	return sizes, nil
}
