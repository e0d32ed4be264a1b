package reports_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/reports"
)

// TestLevels checks the thresholds from which on a rate is near the review rate or at it,
// and the numbers below which it is not judged.
func TestLevels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sent, part         int64
		bounces, complaint reports.Level
	}{
		{99, 99, reports.Unremarkable, reports.Unremarkable},
		{100, 1, reports.Unremarkable, reports.Unremarkable},
		{100, 2, reports.Unremarkable, reports.AtReview},
		{100, 4, reports.NearReview, reports.AtReview},
		{100, 5, reports.AtReview, reports.AtReview},
		{1000, 39, reports.Unremarkable, reports.AtReview},
		{1000, 40, reports.NearReview, reports.AtReview},
		{2000, 2, reports.Unremarkable, reports.AtReview},
		{2500, 2, reports.Unremarkable, reports.NearReview},
		{2501, 2, reports.Unremarkable, reports.Unremarkable},
	} {
		counts := reports.Counts{Sent: c.sent, Bounced: c.part, Complained: c.part}
		if b, l := counts.BounceLevel(), counts.ComplaintLevel(); b != c.bounces || l != c.complaint {
			t.Errorf("%d of %d: bounces %d, complaints %d", c.part, c.sent, b, l)
		}
	}
}
