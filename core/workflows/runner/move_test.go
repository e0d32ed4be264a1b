package runner_test

import (
	"bytes"
	"context"
	"io"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/orgmove"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
	movestore "github.com/mailhelm/mailhelm/storage/orgmove"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestRunsGoOnInAnotherInstallation moves an organization to a database of the other kind while a
// contact waits at a timer. The run goes on there, sends its message once, and contacts that come in
// later enter. Segments have the same members.
func TestRunsGoOnInAnotherInstallation(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		id := w.launch(t, "enter on activity.signup\nwait 1 day\nsend \"welcome\"")
		kim := w.add(t, "kim", map[string]any{"plan": "pro"})
		w.add(t, "lee", nil)
		w.act(t, kim, "signup", w.Now())
		w.advance(t, time.Hour)
		before := w.members(t)

		next := storagetest.SQLite
		if w.db.Dialect() == engine.SQLite {
			next = storagetest.Postgres
		}
		there := connect(next(t), w.org)
		there.set(w.Now())
		moveTo(t, w.db, there.db, w.org)
		if diff := cmp.Diff(w.runs(t, id, kim), there.runs(t, id, kim)); diff != "" {
			t.Errorf("the run: %s", diff)
		}
		there.settle(t)
		if diff := cmp.Diff(before, there.members(t)); diff != "" || len(before) != 1 {
			t.Errorf("the members of the segment: %v, %s", before, diff)
		}
		there.act(t, there.add(t, "new", nil), "signup", there.Now())
		there.settle(t)
		if got := there.mails("kim"); got != "" {
			t.Errorf("before the end of the timer: %q", got)
		}
		there.advance(t, day)
		there.advance(t, day)
		for name, want := range map[string]string{"kim": "welcome pro", "new": "welcome", "lee": ""} {
			if got := there.mails(name); got != want {
				t.Errorf("%s got %q, want %q", name, got, want)
			}
		}
	})
}

// members returns the members of all segments.
func (w *world) members(t *testing.T) []string {
	t.Helper()
	rows, err := w.db.Reader().QueryContext(t.Context(), `SELECT segment_id || ' ' || contact_id FROM segment_members WHERE org_id = $1 ORDER BY 1`, w.org)
	must(t, err)
	defer rows.Close()
	var all []string
	for rows.Next() {
		var one string
		must(t, rows.Scan(&one))
		all = append(all, one)
	}
	must(t, rows.Err())
	return all
}

// noObjects has no objects.
type noObjects struct{}

func (noObjects) Each(context.Context, string, func(string, func() (io.ReadCloser, error)) error) error {
	return nil
}
func (noObjects) Put(context.Context, string, string, io.Reader, int64) error { return nil }
func (noObjects) Clear(context.Context, string) error                         { return nil }

// moveTo exports an organization from one database and imports it into another one.
func moveTo(t *testing.T, from, to *storage.DB, org string) {
	t.Helper()
	master := func(n byte) signing.MasterKey {
		key, err := signing.NewMasterKey(bytes.Repeat([]byte{n}, 32))
		must(t, err)
		return key
	}
	key, err := age.GenerateX25519Identity()
	must(t, err)
	var archive bytes.Buffer
	_, err = orgmove.Export{
		Source: movestore.NewSource(from.DB, master(1)), Objects: noObjects{}, Clock: from.Now, Progress: func(int64, int64, string) {},
	}.Write(t.Context(), &archive, []age.Recipient{key.Recipient()}, org, true)
	must(t, err)
	target := movestore.NewTarget(to.DB, master(2), "", func(context.Context, string) error { return nil })
	_, err = orgmove.Import{
		Target: target, Objects: noObjects{}, Progress: func(int64, string) {}, Rollback: time.Minute,
	}.Read(t.Context(), &archive, []age.Identity{key}, orgmove.Options{})
	must(t, err)
}
