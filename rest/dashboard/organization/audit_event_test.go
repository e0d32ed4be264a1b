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

// TestLongDetail checks that the page folds many values, but never values of a change.
func TestLongDetail(t *testing.T) {
	t.Parallel()
	for detail, want := range map[string]bool{
		`{"a": "1", "b": "2", "c": "3"}`:                                     false,
		`{"a": "1", "b": "2", "c": "3", "d": "4"}`:                           true,
		`{"a": "1", "b": "2", "c": "3", "d": {"before": "4", "after": "5"}}`: false,
		`{"a": "1", "b": "2", "c": "3", "added": ["4"], "removed": []}`:      false,
	} {
		if got := (auditEvent{Detail: detailLines(detail)}).Long(); got != want {
			t.Errorf("%s: %v", detail, got)
		}
	}
}
