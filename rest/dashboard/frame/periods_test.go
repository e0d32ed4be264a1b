package frame_test

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// TestPeriods checks which numbers of days a page offers, and which one it marks.
func TestPeriods(t *testing.T) {
	t.Parallel()
	address := func(days int) string { return "/x?days=" + strconv.Itoa(days) }
	for kept, want := range map[int]frame.Periods{
		90: {Label: "Window", Links: []frame.Period{{Days: 7, Path: "/x?days=7"}, {Days: 30, Path: "/x?days=30", Current: "true"}, {Days: 90, Path: "/x?days=90"}}},
		30: {Label: "Window", Links: []frame.Period{{Days: 7, Path: "/x?days=7"}, {Days: 30, Path: "/x?days=30", Current: "true"}}, Kept: 30},
	} {
		if diff := cmp.Diff(want, frame.PeriodsOf("Window", []int{7, 30, 90}, 30, kept, address)); diff != "" {
			t.Errorf("%d days are kept (-want +got):\n%s", kept, diff)
		}
	}
}
