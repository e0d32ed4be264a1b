package storage_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// wholeOrganization matches a step of a plan that reads all rows of an organization in a
// table with a row for each contact, message or event.
var wholeOrganization = regexp.MustCompile(`USING (COVERING )?INDEX (sqlite_autoindex_)?` +
	`(activities|contacts|contact_slots|list_members|message_events|message_recipients|messages|segment_members|undeliverable)` +
	`_(?:\d|[a-z_]+) \(org_id=\?\)`)

// TestLargeTablesAreReadByMoreThanTheOrganization holds the plans of SQLite, which has no
// statistics and expects ten rows of each organization. It then prefers an index that has
// all columns to one that finds the row, unless the statement leaves it no choice.
func TestLargeTablesAreReadByMoreThanTheOrganization(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	whole := []string{ // they walk an index to its end, or stop at the first row
		"count drop-out of activity property", "last change of undeliverable", "names of activities", "value stands",
	}
	seen := 0
	for _, s := range engine.Statements() {
		reads := wholeOrganization.FindString(storagetest.Plan(t, db, s))
		switch {
		case slices.Contains(whole, s.Name()):
			seen++
			if reads == "" {
				t.Errorf("%s no longer reads the whole organization: take it off the list", s.Name())
			}
		case reads != "":
			t.Errorf("%s reads all rows of an organization: %s", s.Name(), reads)
		}
	}
	if seen != len(whole) {
		t.Errorf("%d of the %d named statements exist", seen, len(whole))
	}
}
