package organization

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDetailLeavesOutEmptyValues checks that the detail of an event omits empty texts,
// which could look like hidden values. A change to an empty text must be shown.
func TestDetailLeavesOutEmptyValues(t *testing.T) {
	t.Parallel()
	got := detailLines(`{"endpoint": "", "provider": "ses", "region": "", "max_send_rate": 0, "name": {"before": "A", "after": ""}}`)
	want := []detailLine{{Name: "max send rate", Value: "0"}, {Name: "name", Before: "A"}, {Name: "provider", Value: "ses"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
