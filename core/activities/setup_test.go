package activities_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// bundle is an [activities.Activities] on a test database, for one organization.
type bundle struct {
	db         *storage.DB
	activities *activities.Activities
	org        core.Org
	ops        map[string]core.Operation
	surface    core.Surface

	mu  sync.Mutex
	now time.Time
}

func (b *bundle) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *bundle) advance(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

func setup(t *testing.T, db *storage.DB, edits ...func(*activities.Config)) *bundle {
	t.Helper()
	b := &bundle{db: db, surface: core.REST, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), ops: map[string]core.Operation{}}
	b.org = core.Org{ID: core.NewID(), Name: "Org", Slug: "org-" + core.NewID()[24:], Tier: "demo", RetentionDays: 365}
	if err := db.Orgs().InsertOrg(t.Context(), b.org); err != nil {
		t.Fatal(err)
	}
	cfg := activities.Config{Store: db.Activities(), Properties: db.ActivityProperties(), Clock: b.clock, Log: slog.New(slog.DiscardHandler)}
	for _, edit := range edits {
		edit(&cfg)
	}
	b.activities = activities.New(cfg)
	for _, op := range b.activities.Operations() {
		b.ops[op.Info().Name] = op
	}
	return b
}

// each runs a test on SQLite and on PostgreSQL.
func each(t *testing.T, test func(*testing.T, *storage.DB)) {
	t.Helper()
	storagetest.Each(t, test)
}

// run decodes the arguments and runs the Prepare and Do steps of an operation, as a REST or
// MCP call does.
func (b *bundle) run(ctx context.Context, name, arguments string) (any, *core.Error) {
	op := b.ops[name]
	call := &core.Call{Principal: core.Principal{Org: b.org}, Surface: b.surface, Now: b.clock()}
	defer call.Finish()
	in, err := op.Decode(b.surface, []byte(arguments))
	if err != nil {
		return nil, core.AsError(err)
	}
	if in, err = op.Prepare(ctx, call, in); err != nil {
		return nil, core.AsError(err)
	}
	var out any
	do := func(ctx context.Context) error {
		out, err = op.Do(ctx, call, in)
		return err
	}
	if op.Info().Effect == core.Reads {
		err = do(ctx)
	} else {
		err = b.db.InTx(ctx, do)
	}
	return out, core.AsError(err)
}

// want runs an operation and returns its result. It ends the test if the operation fails.
func want[Out any](t *testing.T, b *bundle, name, arguments string, values ...any) Out {
	t.Helper()
	out, err := b.run(t.Context(), name, fmt.Sprintf(arguments, values...))
	if err != nil {
		t.Fatalf("%s(%s): %v", name, arguments, err)
	}
	return out.(Out)
}

// wantRefusal runs an operation and checks that it fails with the code.
func (b *bundle) wantRefusal(t *testing.T, code core.Code, name, arguments string) {
	t.Helper()
	if _, err := b.run(t.Context(), name, arguments); err == nil || err.Code != code {
		t.Errorf("%s(%s): %v, want %s", name, arguments, err, code)
	}
}

// record records activities from a list of JSON items and returns the result of each item.
func (b *bundle) record(t *testing.T, items string, values ...any) []activities.ItemResult {
	t.Helper()
	return want[activities.Recorded](t, b, "activities_record", `{"activities":[`+items+`]}`, values...).Data
}

// recordAside records activities like record, but does not call t.Fatal, so that goroutines
// may use it.
func (b *bundle) recordAside(t *testing.T, items string) []activities.ItemResult {
	t.Helper()
	out, err := b.run(t.Context(), "activities_record", `{"activities":[`+items+`]}`)
	if err != nil {
		t.Errorf("%s: %v", items, err)
		return make([]activities.ItemResult, 1)
	}
	return out.(activities.Recorded).Data
}

// page runs activities_list and returns the page.
func (b *bundle) page(t *testing.T, arguments string, values ...any) activities.Page {
	t.Helper()
	return want[activities.Page](t, b, "activities_list", arguments, values...)
}

// contact stores a contact and returns its id.
func (b *bundle) contact(t *testing.T, email, externalID string, edits ...func(*contacts.Contact)) string {
	t.Helper()
	c := contacts.Contact{ID: core.NewID(), Email: email, Status: contacts.Active, CreatedAt: b.clock(), UpdatedAt: b.clock()}
	if externalID != "" {
		c.ExternalID = &externalID
	}
	for _, edit := range edits {
		edit(&c)
	}
	if err := b.db.Contacts().InsertContact(t.Context(), b.org.ID, c); err != nil {
		t.Fatal(err)
	}
	return c.ID
}
