package demodata

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/servetest"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func seeder(t *testing.T, db *storage.DB, dir string) Seeder {
	t.Helper()
	account, err := simulator.Open(filepath.Join(dir, "account.db"), simulator.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { account.Close() }) //nolint:errcheck // the test is over
	return Seeder{DB: db, Scopes: core.AllScopes(), Account: account, Clock: core.SystemClock, Sync: servetest.NewSync(db, account, core.SystemClock, slog.New(slog.DiscardHandler))}
}

func TestMirrorAgreesWithTheAccount(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		dir := t.TempDir()
		s := seeder(t, db, dir)
		c, err := s.Ensure(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		report, err := s.Sync.Run(t.Context(), c.OrgID)
		if err != nil {
			t.Fatal(err)
		}
		want := topics.SyncReport{Topics: 5, Pages: report.Pages, Mirrored: topics.Mirrored{Unchanged: PeopleCount}}
		if report != want {
			t.Errorf("another sync says %+v, want %+v", report, want)
		}
		again, err := s.Ensure(t.Context(), dir)
		if err != nil || again != c {
			t.Errorf("a second Ensure gives other credentials (%v)", err)
		}
	})
}

func TestCredentialsOfAnotherDatabaseAreRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := seeder(t, storagetest.SQLite(t), dir)
	if _, err := s.Ensure(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, credentialsFile)
	for name, content := range map[string]string{"another organization's": `{"org_id":"x"}`, "damaged": `{`} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Ensure(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "start over") {
			t.Errorf("%s file: %v, want what to do", name, err)
		}
	}
}

// TestFileWithoutOrganizationIsReplaced checks a start after a crash between writing the
// credentials file and the commit of the demo's data. The file names an organization that
// does not exist, so the start must replace the file.
func TestFileWithoutOrganizationIsReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, credentialsFile)
	if err := os.WriteFile(path, []byte(`{"org_id":"never committed"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := seeder(t, storagetest.SQLite(t), dir)
	c, err := s.Ensure(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if read, err := readCredentials(path, c.OrgID); err != nil || read != c {
		t.Errorf("the file holds %+v %v", read, err)
	}
}

// TestSegmentsOfTheDemoDivide checks that the segments of the demo have some of the
// contacts as members but not all. Only the segment engaged-readers must be empty, because
// the test creates no mail.
func TestSegmentsOfTheDemoDivide(t *testing.T) {
	t.Parallel()
	db, dir := storagetest.SQLite(t), t.TempDir()
	c, err := seeder(t, db, dir).Ensure(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	divided := segments.New(segments.Config{Store: db.Segments(), Members: db.SegmentMembers(), Changes: db.SegmentChanges(), Transactor: db, Clock: core.SystemClock})
	if err := divided.Follow(t.Context(), c.OrgID); err != nil {
		t.Fatal(err)
	}
	all, err := db.Segments().AllSegments(t.Context(), c.OrgID)
	if err != nil || len(all) != 3 {
		t.Fatalf("%d segments, %v", len(all), err)
	}
	for _, s := range all {
		// The segment engaged-readers needs opened messages, and this test creates none.
		if some := s.Key != "engaged-readers"; (s.MemberCount > 0) != some || s.MemberCount == PeopleCount {
			t.Errorf("%s has %d members", s.Key, s.MemberCount)
		}
	}
}
