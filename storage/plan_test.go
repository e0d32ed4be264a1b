package storage_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/privacy"
	"github.com/mailhelm/mailhelm/storage/engine"
	_ "github.com/mailhelm/mailhelm/storage/retention" // package storage does not import it
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// wholeOrganization matches a step of a SQLite query plan that reads all rows of an
// organization from a large table: one with a row for each contact, message or event.
var wholeOrganization = regexp.MustCompile(`USING (COVERING )?INDEX (sqlite_autoindex_)?` +
	`(activities|consent_contacts|contacts|contact_slots|inbox_messages|list_members|message_events|message_recipients|messages|segment_members|undeliverable|webhook_deliveries|workflow_events|workflow_mails|workflow_runs)` +
	`_(?:\d|[a-z_]+) \(org_id=\?\)`)

// TestLargeTablesAreReadByMoreThanTheOrganization checks the SQLite query plans of all
// statements: none may read all rows of an organization from a large table. Without
// statistics SQLite expects ten rows in each organization. It may then read all rows of the
// organization from an index with all needed columns, instead of the matching rows from a
// more selective index.
func TestLargeTablesAreReadByMoreThanTheOrganization(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	// These statements may read all rows of an organization: they need each row, stop at the
	// first row that matches, or are of the hourly sweep, which looks up many messages of inboxes
	// that live for an hour.
	whole := []string{
		"count drop-out of activity property", "delete other spellings of a recipient", "erased contact leaves segments", "forget consent topic", "known messages of inboxes", "last change of undeliverable", "names of activities", "pass progress", "value stands",
	}
	seen := 0
	for _, s := range engine.Statements() {
		// Counting and erasing an organization, and counting its export, reads each row. A batch of an
		// erasing stops at its limit.
		if strings.HasSuffix(s.Name(), " of an organization") || strings.HasPrefix(s.Name(), "count export of ") {
			continue
		}
		// Exporting and erasing a person is rare, and finds addresses in any spelling.
		if strings.Contains(s.Name(), " of a person in ") || strings.HasPrefix(s.Name(), "erase person from ") && !isOfArchived(s) || strings.HasPrefix(s.Name(), "addresses in ") {
			continue
		}
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

// isOfArchived reports whether a statement erases rows of archived contacts, which a job does
// beside other writes.
func isOfArchived(s *engine.Statement) bool {
	return slices.ContainsFunc(privacy.OfArchived(), func(t privacy.Table) bool { return s.Name() == "erase person from "+t.Name })
}

// TestArchivedContactsAreErasedByIndexes checks that an index leads from a contact to the rows
// that are erased with it. The other tables have rows for seconds only, or one for each broadcast.
func TestArchivedContactsAreErasedByIndexes(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	short := regexp.MustCompile(`SEARCH (broadcasts|workflow_sends|workflow_entries|workflow_touched|segment_touched) `)
	seen := 0
	for _, s := range engine.Statements() {
		if !isOfArchived(s) && s.Name() != "hide erased contact among recipients" {
			continue
		}
		seen++
		for step := range strings.Lines(storagetest.Plan(t, db, s)) {
			if (strings.Contains(step, "(org_id=?)") || strings.Contains(step, "SCAN ")) && !short.MatchString(step) {
				t.Errorf("%s reads too many rows: %s", s.Name(), step)
			}
		}
	}
	if want := len(privacy.OfArchived()) + 1; seen != want || want < 15 {
		t.Errorf("%d of %d statements exist", seen, want)
	}
}

// TestOldCallsAndJobsAreReadByIndexes checks that each statement about results of calls and
// failed jobs of an organization reads the index that has only those, also where it deletes.
func TestOldCallsAndJobsAreReadByIndexes(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	seen := 0
	for _, s := range engine.Statements() {
		index := map[string]string{"replay": "replay_records_called", "jobs": "river_job_failed"}[s.Name()[strings.LastIndex(s.Name(), " ")+1:]]
		if index == "" || !strings.HasPrefix(s.Name(), "count due ") && !strings.HasPrefix(s.Name(), "oldest of ") && !strings.HasPrefix(s.Name(), "delete old ") {
			continue
		}
		seen++
		plan := storagetest.Plan(t, db, s)
		if strings.Count(plan, " "+index+" (") != strings.Count(plan, "SEARCH ") || strings.Contains(plan, "SCAN replay") || strings.Contains(plan, "SCAN river") {
			t.Errorf("%s does not read %s alone:\n%s", s.Name(), index, plan)
		}
	}
	if seen != 6 {
		t.Errorf("%d statements exist", seen)
	}
}

// TestOldestRowsOfReportsAreDeletedByTheWholeKey checks that deleting the oldest rows of DMARC
// reports ends at the last of them, and does not read the other rows of its day.
func TestOldestRowsOfReportsAreDeletedByTheWholeKey(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	seen := false
	for _, s := range engine.Statements() {
		if s.Name() != "delete oldest rows of reports" {
			continue
		}
		seen = true
		if plan := storagetest.Plan(t, db, s); !strings.Contains(plan, "(org_id=? AND domain_id=? AND (day,report,n)<(?,?,?))") {
			t.Errorf("%s: %s", s.Name(), plan)
		}
	}
	if !seen {
		t.Error("the statement is missing")
	}
}
