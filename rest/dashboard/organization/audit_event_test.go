package organization

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDetailLeavesOutEmptyValues: an empty value would look as if it were hidden. A change to
// an empty value is kept.
func TestDetailLeavesOutEmptyValues(t *testing.T) {
	t.Parallel()
	got := detailLines(`{"endpoint": "", "provider": "ses", "region": "", "max_send_rate": 0, "name": {"before": "A", "after": ""}}`)
	want := []detailLine{{Name: "max send rate", Value: "0"}, {Name: "name", Before: "A"}, {Name: "provider", Value: "ses"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
