package dashboard

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A name without anything behind it would look as if a value were hidden. What
// changed to nothing is something that happened.
func TestDetailLeavesOutWhatIsEmpty(t *testing.T) {
	t.Parallel()
	got := detailLines(`{"endpoint": "", "provider": "ses", "region": "", "max_send_rate": 0, "name": {"before": "A", "after": ""}}`)
	want := []detailLine{{Name: "max send rate", Value: "0"}, {Name: "name", Before: "A"}, {Name: "provider", Value: "ses"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
