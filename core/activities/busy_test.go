package activities_test

import (
	"context"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage"
)

// TestABusyDatabaseRefusesTheRequest keeps a write transaction open for longer than calls
// wait; SQLite allows only one at a time. It checks that a request fails during that time
// and stores nothing, and that the same request succeeds later.
func TestABusyDatabaseRefusesTheRequest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func() *storage.DB {
		db, err := storage.Open(t.Context(), storage.Config{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	mine, theirs := open(), open()
	if err := mine.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := setup(t, mine)
	const items = `{"name":"a","email":"ann@x.example","idempotency_key":"k"},{"name":"once","email":"ann@x.example","dedup_mode":"once"}`
	err := theirs.InTx(t.Context(), func(context.Context) error {
		_, err := b.run(t.Context(), "activities_record", `{"activities":[`+items+`]}`)
		if err == nil || err.Code != core.CodeOverloaded {
			t.Errorf("%v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if page := b.page(t, `{}`); len(page.Items) != 0 {
		t.Errorf("%+v", page.Items)
	}
	for _, item := range b.record(t, items) {
		if item.Status != "accepted" || item.Duplicate {
			t.Errorf("%+v", item)
		}
	}
}
