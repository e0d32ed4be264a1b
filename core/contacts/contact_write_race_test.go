package contacts_test

import (
	"context"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// race runs an operation with the steps of package guardrails: Prepare, and Do in a
// transaction. Between the two steps, it calls the function in the parameter between.
func (b bundle) race(t *testing.T, name, arguments string, between func()) (contacts.ContactWritten, *core.Error) {
	t.Helper()
	op := b.Operation(name)
	call := &core.Call{Principal: core.Principal{Org: b.Org}, Surface: b.Surface, Now: b.Clock()}
	defer call.Finish()
	in, err := op.Decode(b.Surface, []byte(arguments))
	if err == nil {
		in, err = op.Prepare(t.Context(), call, in)
	}
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	between()
	var out any
	err = b.DB.InTx(t.Context(), func(ctx context.Context) error {
		out, err = op.Do(ctx, call, in)
		return err
	})
	written, _ := out.(contacts.ContactWritten)
	return written, core.AsError(err)
}

// syncCreating syncs the database with the sending account and checks that the sync creates
// the given number of contacts.
func (b bundle) syncCreating(t *testing.T, created int) {
	t.Helper()
	if report, err := b.Sync.Run(t.Context(), b.Org.ID); err != nil || report.Created != created {
		t.Errorf("the sync made %d contacts, want %d: %v", report.Created, created, err)
	}
}

// writeRaces are writes during which a sync runs after Prepare, before the transaction or
// inside it. The sync finds the address that Prepare wrote to the sending account. The
// result of the write must be the same as without the sync.
var writeRaces = []struct {
	// arguments of earlier calls: the first of contacts_upsert, the second (if any) of
	// contacts_archive
	before          []string
	surface         core.Surface
	name, arguments string
	made            int // number of contacts that the sync creates
	want            string
}{
	{nil, core.Agent, "contacts_upsert", `{"email":"a@example.com","external_id":"u1"}`, 1, "created"},
	{nil, core.Agent, "contacts_upsert", `{"email":"a@example.com"}`, 1, "created"},
	{nil, core.REST, "contacts_replace", `{"email":"a@example.com"}`, 1, "created"},
	{nil, core.REST, "contacts_create", `{"email":"a@example.com"}`, 1, "created"},
	{known, core.Agent, "contacts_upsert", `{"email":"b@example.com","external_id":"u1"}`, 1, "updated"},
	{known, core.Agent, "contacts_upsert", `{"email":"a@example.com"}`, 0, "updated"},
	{known, core.REST, "contacts_replace", `{"email":"a@example.com"}`, 0, "updated"},
	{known, core.REST, "contacts_update", `{"email":"a@example.com","attributes":{"age":2}}`, 0, "updated"},
	{archived, core.Agent, "contacts_upsert", `{"email":"a@example.com"}`, 0, "reactivated"},
	{archived, core.Agent, "contacts_upsert", `{"email":"b@example.com","external_id":"u1"}`, 1, "reactivated"},
	{archived, core.REST, "contacts_replace", `{"email":"a@example.com"}`, 0, "reactivated"},
	{archived, core.REST, "contacts_create", `{"email":"a@example.com"}`, 0, "created"},
}

var (
	known    = []string{`{"email":"a@example.com","external_id":"u1"}`}
	archived = append(known, `{"email":"a@example.com"}`)
)

// prepare returns a fixture with the contacts that a race starts with.
func prepare(t *testing.T, db *storage.DB, before []string) bundle {
	t.Helper()
	b := setupOn(t, db)
	b.Surface = core.Agent
	for i, arguments := range before {
		b.Want(t, []string{"contacts_upsert", "contacts_archive"}[i], arguments)
	}
	return b
}

func TestASyncBetweenTheHalvesHidesNoCreation(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		for _, race := range writeRaces {
			b := prepare(t, db, race.before)
			b.Surface = race.surface
			written, err := b.race(t, race.name, race.arguments, func() { b.syncCreating(t, race.made) })
			if err != nil || written.Result != race.want {
				t.Errorf("%v, then %s(%s): %q, %v; want %q", race.before, race.name, race.arguments, written.Result, err, race.want)
			}
		}
	})
}

// overtaken is a contacts.Store that calls a function, the field by, just before each
// insert or update of a contact.
type overtaken struct {
	contacts.Store
	by func()
}

func (s overtaken) InsertContact(ctx context.Context, orgID string, c contacts.Contact) error {
	s.by()
	return s.Store.InsertContact(ctx, orgID, c)
}

func (s overtaken) UpdateContact(ctx context.Context, orgID string, c contacts.Contact) error {
	s.by()
	return s.Store.UpdateContact(ctx, orgID, c)
}

// TestASyncInsideTheSecondHalfRefusesNothing checks writes during which a sync commits
// inside their transaction, after the contact was read and before it is stored. It runs on
// PostgreSQL: on SQLite no other writer can run then.
func TestASyncInsideTheSecondHalfRefusesNothing(t *testing.T) {
	t.Parallel()
	db := storagetest.Postgres(t)
	for _, race := range writeRaces {
		if race.made == 0 {
			continue // the call has locked the contact, so the sync cannot commit inside the call's transaction
		}
		b := prepare(t, db, race.before)
		b.Surface = race.surface
		b.Contacts.Store = overtaken{b.Contacts.Store, sync.OnceFunc(func() { b.syncCreating(t, race.made) })}
		written, err := b.race(t, race.name, race.arguments, func() {})
		if err != nil || written.Result != race.want {
			t.Errorf("%v, then %s(%s): %q, %v; want %q", race.before, race.name, race.arguments, written.Result, err, race.want)
		}
	}
}

// TestAClaimIsLostToAMove checks an upsert by external id during which another process
// changes the contact. The upsert must fail if the contact then has another address than
// the one that the upsert wrote. Otherwise the sending account would keep consent for an
// address without a contact. Repeating the call succeeds.
func TestAClaimIsLostToAMove(t *testing.T) {
	t.Parallel()
	const upsert = "contacts_upsert_by_external_id"
	for name, race := range map[string]struct {
		before        []string
		ours, theirs  string
		lost          bool
		held, nowhere []string
	}{
		"made at another address": {nil, `{"external_id":"u1","email":"b@example.com"}`, `{"external_id":"u1","email":"c@example.com"}`, true, []string{"b@example.com"}, []string{"c@example.com"}},
		"moved by both":           {known, `{"external_id":"u1","email":"b@example.com"}`, `{"external_id":"u1","email":"c@example.com"}`, true, []string{"b@example.com"}, []string{"a@example.com", "c@example.com"}},
		"moved by the other":      {known, `{"external_id":"u1","unsubscribe_all":true}`, `{"external_id":"u1","email":"c@example.com"}`, true, []string{"c@example.com"}, []string{"a@example.com"}},
		"moved to the same":       {known, `{"external_id":"u1","email":"b@example.com"}`, `{"external_id":"u1","email":"B@example.com"}`, false, []string{"b@example.com"}, []string{"a@example.com"}},
		"changed otherwise":       {known, `{"external_id":"u1","email":"b@example.com"}`, `{"external_id":"u1","attributes":{"age":7}}`, false, []string{"b@example.com"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storagetest.Each(t, func(t *testing.T, db *storage.DB) {
				b := prepare(t, db, race.before)
				b.Surface = core.REST
				other := b.OtherProcess()
				other.Surface = core.REST
				_, err := b.race(t, upsert, race.ours, func() { other.Want(t, upsert, race.theirs) })
				if race.lost && (err == nil || err.Code != core.CodeContactClaimRace || err.RetryAfter == 0) || !race.lost && err != nil {
					t.Fatalf("ended with %v", err)
				}
				after := b.Want(t, upsert, race.ours)
				if after["email"] != race.held[0] {
					t.Errorf("once more: %v", after)
				}
				for _, address := range race.held {
					if held, there := b.AccountContact(t, address); !there || held.UnsubscribeAll != after["unsubscribe_all"] {
						t.Errorf("the account holds %+v of %s, the mirror %v", held, address, after)
					}
				}
				for _, address := range race.nowhere {
					if _, there := b.AccountContact(t, address); there {
						t.Errorf("the account still has %s", address)
					}
				}
			})
		})
	}
}

// TestIdentifyWhileTheContactIsArchived checks that contacts_identify fails with a conflict
// if another caller archives the visitor's contact, or gives it another external id, after
// Prepare and before the transaction.
func TestIdentifyWhileTheContactIsArchived(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := prepare(t, db, known)
		b.Surface = core.REST
		const identify = `{"external_id":"u1"}`
		_, err := b.race(t, "contacts_identify", identify, func() { b.OtherProcess().Want(t, "contacts_archive", `{"email":"a@example.com"}`) })
		if err == nil || err.Code != core.CodeConflict || err.Next == "" {
			t.Errorf("ended with %v", err)
		}
		b.Want(t, "contacts_upsert_by_external_id", identify)
		_, err = b.race(t, "contacts_identify", `{"email":"a@example.com","external_id":"u1"}`, func() {
			b.OtherProcess().Want(t, "contacts_upsert_by_external_id", `{"external_id":"u2","email":"a@example.com","rebind_external_id":true}`)
		})
		if err == nil || err.Code != core.CodeExternalIDConflict {
			t.Errorf("ended with %v", err)
		}
		if again := b.Want(t, "contacts_identify", `{"external_id":"u2"}`); again["result"] != "existing" || again["visitor_id"] == nil {
			t.Errorf("once more: %v", again)
		}
	})
}
