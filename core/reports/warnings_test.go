package reports_test

import (
	"slices"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/reports"
)

// TestWarningsBeginExactlyAtTheirThresholds checks that a warning appears exactly when a
// rate reaches its threshold, and not one message earlier.
func TestWarningsBeginExactlyAtTheirThresholds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const many = 1_000_000_000_000 // large enough that a rate in floating point would be rounded
	for _, c := range []struct {
		counts reports.Counts
		want   []reports.WarningCode
	}{
		{reports.Counts{Sent: 1000}, nil},
		{reports.Counts{Sent: 999}, []reports.WarningCode{reports.LowVolume}},
		{reports.Counts{Sent: 2000, Bounced: 99, Complained: 1}, nil},
		{reports.Counts{Sent: 2000, Bounced: 100}, []reports.WarningCode{reports.BounceReview}},
		{reports.Counts{Sent: 2000, Bounced: 199}, []reports.WarningCode{reports.BounceReview}},
		{reports.Counts{Sent: 2000, Bounced: 200}, []reports.WarningCode{reports.BouncePause}},
		{reports.Counts{Sent: 2000, Complained: 2}, []reports.WarningCode{reports.ComplaintReview}},
		{reports.Counts{Sent: 2000, Complained: 9}, []reports.WarningCode{reports.ComplaintReview}},
		{reports.Counts{Sent: 2000, Complained: 10}, []reports.WarningCode{reports.ComplaintPause}},
		{reports.Counts{Sent: 2000, Bounced: 2000, Complained: 2000}, []reports.WarningCode{reports.BouncePause, reports.ComplaintPause}},
		{reports.Counts{Sent: many, Bounced: many/20 - 1, Complained: many/1000 - 1}, nil},
		{reports.Counts{Sent: many, Bounced: many / 20, Complained: many / 1000}, []reports.WarningCode{reports.BounceReview, reports.ComplaintReview}},
		{reports.Counts{Sent: many, Bounced: many/10 - 1, Complained: many/200 - 1}, []reports.WarningCode{reports.BounceReview, reports.ComplaintReview}},
		{reports.Counts{Sent: 1, Bounced: 1}, []reports.WarningCode{reports.BouncePause, reports.LowVolume}},
		{reports.Counts{Bounced: 3, Complained: 1}, []reports.WarningCode{reports.LowVolume}},
		{reports.Counts{}, []reports.WarningCode{reports.LowVolume}},
	} {
		b.org.ID = core.NewID()
		row := reports.Counted{Subject: reports.Subject{From: now.AddDate(0, 0, -1).Truncate(24 * time.Hour)}, Counts: c.counts}
		if err := b.db.Reports().CountDays(t.Context(), b.org.ID, []reports.Counted{row}); err != nil {
			t.Fatal(err)
		}
		var got []reports.WarningCode
		for _, w := range b.health(t, nil).Warning {
			got = append(got, w.Code)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, want %v", c.counts, got, c.want)
		}
	}
}
