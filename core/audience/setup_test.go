package audience_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/audience"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// bundle is an audience over a real database and a simulated account.
type bundle struct {
	db       *storage.DB
	account  *simulator.Simulator
	audience *audience.Audience
	sync     *topics.Sync
	org      core.Org
	ops      map[string]core.Operation
	surface  core.Surface

	mu         sync.Mutex
	now        time.Time
	changed    []string // contact ids
	activities []string // names and contact ids
}

func sealer(t *testing.T) sending.Sealer {
	t.Helper()
	key, err := signing.NewMasterKey(make([]byte, 32))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (b *bundle) noteChanged(_ context.Context, org string, contactIDs []string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range contactIDs {
		b.changed = append(b.changed, org+"/"+id)
	}
	return nil
}

func (b *bundle) noteActivity(_ context.Context, org, contactID, activity string, _ time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.activities = append(b.activities, activity+" "+org+"/"+contactID)
	return nil
}

// noted returns the contacts that were reported as changed since the last call.
func (b *bundle) noted() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.changed
	b.changed = nil
	return all
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

func setup(t *testing.T) *bundle { return setupOn(t, storagetest.SQLite(t)) }

func setupOn(t *testing.T, db *storage.DB) *bundle {
	t.Helper()
	b := &bundle{db: db, surface: core.REST, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), ops: map[string]core.Operation{}}
	account, err := simulator.Open(filepath.Join(t.TempDir(), "account.db"), simulator.Options{Clock: b.clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = account.Close() })
	b.account = account
	b.org = core.Org{ID: core.NewID(), Name: "Org", Slug: "org-" + core.NewID()[24:], Tier: "demo", RetentionDays: 365}
	if err := db.Orgs().InsertOrg(t.Context(), b.org); err != nil {
		t.Fatal(err)
	}
	b.define(t)
	quiet := slog.New(slog.DiscardHandler)
	list, turns := topics.NewLive(account, b.clock, quiet), sending.NewTurns()
	subjects := topics.New(topics.Config{
		Store: db.Topics(), Transactor: db, Account: account, Live: list, Turns: turns, Contacts: db.Audience(), Clock: b.clock,
	})
	b.sync = topics.NewSync(topics.SyncConfig{
		Store: db.TopicSync(), Topics: subjects, Orgs: db.Orgs().OrgIDs, Clock: b.clock, Log: quiet, Changed: b.noteChanged,
	})
	listed := lists.New(lists.Config{Store: db.Lists(), Clock: b.clock})
	b.audience = audience.New(audience.Config{
		Store: db.Audience(), Attributes: db.Attributes(), Topics: db.Topics(), List: list, Lists: listed, Turns: turns, Repairs: b.sync, Transactor: db, Account: account, Sealer: sealer(t), Orgs: db.Orgs().OrgIDs, Clock: b.clock, Log: slog.New(slog.DiscardHandler),
		Changed: b.noteChanged, Record: b.noteActivity,
	})
	for _, op := range slices.Concat(b.audience.Operations(), listed.Operations(), subjects.Operations()) {
		b.ops[op.Info().Name] = op
	}
	return b
}

// define gives the organization an account with two topics, two attributes and
// two lists.
func (b *bundle) define(t *testing.T) {
	t.Helper()
	err := b.account.Seed(t.Context(), b.org.ID, simulator.Setup{List: &sending.ContactList{Name: "main", Topics: []sending.Topic{
		{Name: "news", DisplayName: "News", Default: sending.OptIn},
		{Name: "offers", DisplayName: "Offers", Default: sending.OptOut},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range []attributes.Attribute{
		{Name: "plan", Type: attributes.Enum, EnumValues: []string{"free", "pro"}},
		{Name: "age", Type: attributes.Number},
		{Name: "city", Type: attributes.String},
	} {
		a.ID, a.Origin = core.NewID(), core.ManagedOrigin
		a.CreatedAt = b.now.Add(time.Duration(i) * time.Second)
		a.UpdatedAt = a.CreatedAt
		if err := b.db.Attributes().InsertAttribute(t.Context(), b.org.ID, a); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"customers", "beta"} {
		l := lists.List{ID: core.NewID(), Key: key, Name: key, Source: "api", Origin: core.ManagedOrigin, Status: "active", CreatedAt: b.now, UpdatedAt: b.now}
		if err := b.db.Lists().InsertList(t.Context(), b.org.ID, l); err != nil {
			t.Fatal(err)
		}
	}
}

// run runs an operation with the steps that the rails take.
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
	err = b.db.InTx(ctx, func(ctx context.Context) error {
		out, err = op.Do(ctx, call, in)
		return err
	})
	return out, core.AsError(err)
}

// want runs an operation that must succeed and returns its result as JSON shows it on
// the surface.
func (b *bundle) want(t *testing.T, name, arguments string) map[string]any {
	t.Helper()
	out, err := b.run(t.Context(), name, arguments)
	if err != nil {
		t.Fatalf("%s(%s): %v", name, arguments, err)
	}
	raw, jsonErr := json.Marshal(b.ops[name].View(b.surface, out))
	if jsonErr != nil {
		t.Fatal(jsonErr)
	}
	if err := b.ops[name].Output(b.surface).Check(raw); err != nil {
		t.Errorf("%s: the result does not fit its own schema: %v\n%s", name, err, raw)
	}
	var shown map[string]any
	if err := json.Unmarshal(raw, &shown); err != nil {
		t.Fatal(err)
	}
	return shown
}

func (b *bundle) refuse(t *testing.T, name, arguments string, code core.Code) {
	t.Helper()
	_ = b.refusal(t, name, arguments, code)
}

func (b *bundle) refusal(t *testing.T, name, arguments string, code core.Code) *core.Error {
	t.Helper()
	_, err := b.run(t.Context(), name, arguments)
	if err == nil || err.Code != code {
		t.Fatalf("%s(%s) = %v, want %s", name, arguments, err, code)
	}
	return err
}

// atAccount returns what the account holds of an address, and whether it lists it.
func (b *bundle) atAccount(t *testing.T, email string) (sending.Contact, bool) {
	t.Helper()
	c, err := b.account.Contact(t.Context(), b.org.ID, email)
	if sending.IsNotFound(err) {
		return c, false
	}
	if err != nil {
		t.Fatal(err)
	}
	return c, true
}

// choices returns the topic_preferences of a shown contact by topic.
func choices(contact map[string]any) map[string]any {
	m := map[string]any{}
	for _, p := range contact["topic_preferences"].([]any) {
		m[p.(map[string]any)["topic"].(string)] = p.(map[string]any)["subscription_status"]
	}
	return m
}

// keys returns the keys of the lists of a shown contact.
func keys(contact map[string]any) []string {
	var names []string
	lists, _ := contact["lists"].([]any)
	for _, l := range lists {
		names = append(names, l.(map[string]any)["key"].(string))
	}
	return names
}

// syncLater lets a minute pass and syncs with the account.
func (b *bundle) syncLater(t *testing.T) topics.SyncReport {
	t.Helper()
	b.advance(time.Minute)
	report, err := b.sync.Run(t.Context(), b.org.ID)
	if err != nil {
		t.Fatal(err)
	}
	return report
}
