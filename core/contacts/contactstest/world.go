package contactstest

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/attributes"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sending/simulator/simulatortest"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/core/visitorids"
	"github.com/mailhelm/mailhelm/storage"
	bulkstore "github.com/mailhelm/mailhelm/storage/bulk"
)

// World is a fixture for tests: an organization with contacts, and the domain packages that
// work on contacts.
type World struct {
	DB      *storage.DB
	Account *simulator.Simulator
	Org     core.Org
	// Surface (REST or agent) is the interface through which operations are called; New sets
	// REST.
	Surface core.Surface
	// Credential is the credential of the calls; New sets none.
	Credential core.Credential

	VisitorIDs *visitorids.VisitorIDs
	Contacts   *contacts.Contacts
	Bulk       *bulk.Bulk
	Pushes     *bulk.Pushes
	Attributes *attributes.Attributes
	Lists      *lists.Lists
	Topics     *topics.Topics
	Sync       *topics.Sync

	ops map[string]core.Operation

	mu      sync.Mutex
	now     time.Time
	changed []string // "organization id/contact id" of each contact that was reported as changed
	// "NAME ORG/CONTACT" (activity name, organization id, contact id) for each recorded
	// activity
	activities []string
}

// New returns a World on the database. The sending account has the topics news, whose
// default is OPT_IN, and offers, whose default is OPT_OUT. The organization has the
// attributes plan, age and city and the lists customers and beta.
func New(t testing.TB, db *storage.DB) *World {
	t.Helper()
	w := &World{DB: db, Surface: core.REST, now: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), ops: map[string]core.Operation{}}
	account := simulatortest.Open(t, simulator.Options{Clock: w.Clock})
	w.Account = account
	w.Org = core.Org{ID: core.NewID(), Name: "Org", Slug: "org-" + core.NewID()[24:], Tier: "demo", RetentionDays: 365}
	must(t, db.Orgs().InsertOrg(t.Context(), w.Org))
	w.define(t)
	w.assemble(t)
	return w
}

// assemble connects the packages with each other as the product does.
func (w *World) assemble(t testing.TB) {
	t.Helper()
	key, err := signing.NewMasterKey(make([]byte, 32))
	must(t, err)
	log := slog.New(slog.DiscardHandler)
	list, locks := topics.NewLive(w.Account, w.Clock, log), sending.NewKeyedLocks()
	w.Topics = topics.New(topics.Config{
		Store: w.DB.Topics(), Transactor: w.DB, Account: w.Account, Live: list, Locks: locks, Contacts: w.DB.ContactCount(), Clock: w.Clock,
	})
	w.Sync = topics.NewSync(topics.SyncConfig{
		Store: w.DB.TopicSync(), Subscribers: w.DB.Subscribers(), Topics: w.Topics, Orgs: w.DB.Orgs().OrgIDs, Clock: w.Clock, Log: log, OnChange: w.NoteChanged,
	})
	w.Lists = lists.New(lists.Config{Store: w.DB.Lists(), Members: w.DB.ListMembers(), Clock: w.Clock})
	w.VisitorIDs = visitorids.New(visitorids.Config{Store: w.DB.VisitorIDs(), Sealer: key, Record: w.noteActivity})
	w.Contacts = contacts.New(contacts.Config{
		Store: w.DB.Contacts(), Searches: w.DB.ContactSearch(), VisitorIDs: w.VisitorIDs, Notes: w.DB.AccountNotes(), Attributes: w.DB.Attributes(), List: list, Lists: w.Lists,
		Locks: locks, Account: w.Account, Pushes: bulkstore.NewPushStore(w.DB.DB), Clock: w.Clock, OnChange: w.NoteChanged,
	})
	w.Bulk = bulk.New(bulk.Config{
		Store: bulkstore.NewJobStore(w.DB.DB), Contacts: bulkstore.NewContactStore(w.DB.DB), Transactor: w.DB, Attributes: w.DB.Attributes(), Topics: w.DB.Topics(), Lists: w.Lists,
		Orgs: w.DB.Orgs().OrgIDs, Clock: w.Clock, Log: log, OnChange: w.NoteChanged,
	})
	w.Pushes = bulk.NewPushes(bulk.PushConfig{
		Store: bulkstore.NewPushStore(w.DB.DB), Contacts: w.DB.Contacts(), Account: w.Account, List: list, Locks: locks, Repairs: w.Sync,
		Orgs: w.DB.Orgs().OrgIDs, Clock: w.Clock, Log: log, Wait: func(_ context.Context, until time.Time) { w.Advance(max(0, until.Sub(w.Clock()))) },
	})
	w.Attributes = attributes.New(attributes.Config{
		Store: w.DB.Attributes(), Passes: w.DB.AttributePasses(), Transactor: w.DB, Topics: list, Clock: w.Clock, Log: log, OnChange: w.NoteChanged,
	})
	for _, op := range slices.Concat(w.Contacts.Operations(), w.Bulk.Operations(), []core.Operation{w.Contacts.SetListMembership()}, w.Lists.Operations(), w.Topics.Operations(), w.Attributes.Operations(), []core.Operation{w.Attributes.GetSchema()}) {
		w.ops[op.Info().Name] = op
	}
}

func (w *World) define(t testing.TB) {
	t.Helper()
	ctx := t.Context()
	must(t, w.Account.Seed(ctx, w.Org.ID, simulator.Setup{List: &sending.ContactList{Name: "main", Topics: []sending.Topic{
		{Name: "news", DisplayName: "News", Default: sending.OptIn},
		{Name: "offers", DisplayName: "Offers", Default: sending.OptOut},
	}}}))
	for i, a := range []attributes.Attribute{
		{Name: "plan", Type: attributes.Enum, EnumValues: []string{"free", "pro"}},
		{Name: "age", Type: attributes.Number},
		{Name: "city", Type: attributes.String},
	} {
		a.ID, a.Origin = core.NewID(), core.ManagedOrigin
		a.CreatedAt = w.now.Add(time.Duration(i) * time.Second)
		a.UpdatedAt = a.CreatedAt
		must(t, w.DB.Attributes().InsertAttribute(ctx, w.Org.ID, a))
	}
	for _, key := range []string{"customers", "beta"} {
		must(t, w.DB.Lists().InsertList(ctx, w.Org.ID, lists.List{
			ID: core.NewID(), Key: key, Name: key, Source: "api", Origin: core.ManagedOrigin, Status: "active", CreatedAt: w.now, UpdatedAt: w.now,
		}))
	}
}

// Clock returns the simulated time.
func (w *World) Clock() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

// Advance moves the clock forward.
func (w *World) Advance(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now = w.now.Add(d)
}

// TakeChanged returns "organization/contact" for each contact that NoteChanged recorded
// since the last call of TakeChanged.
func (w *World) TakeChanged() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.changed
	w.changed = nil
	return all
}

// NoteChanged records changed contacts, for TakeChanged.
func (w *World) NoteChanged(_ context.Context, org string, contactIDs []string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range contactIDs {
		w.changed = append(w.changed, org+"/"+id)
	}
	return nil
}

func (w *World) noteActivity(_ context.Context, org, contactID, activity string, _ time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.activities = append(w.activities, activity+" "+org+"/"+contactID)
	return nil
}

// Activities returns the name, organization and contact of each recorded activity.
func (w *World) Activities() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.activities
}

// OtherProcess returns a World that simulates another process: it uses the same database
// and account and shares no locks. It has only the operations on contacts.
func (w *World) OtherProcess() *World {
	other := &World{DB: w.DB, Account: w.Account, Org: w.Org, Surface: w.Surface, now: w.Clock(), ops: map[string]core.Operation{}}
	alone := w.Contacts.Config
	alone.List, alone.Locks = topics.NewLive(w.Account, w.Clock, slog.New(slog.DiscardHandler)), sending.NewKeyedLocks()
	other.Contacts = contacts.New(alone)
	for _, op := range other.Contacts.Operations() {
		other.ops[op.Info().Name] = op
	}
	return other
}

// Operation returns the operation with this name.
func (w *World) Operation(name string) core.Operation { return w.ops[name] }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
