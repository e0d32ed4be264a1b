package attacks_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/servetest"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/core/visitorids"
)

// gatedAccount wraps the sending account. It calls a hook before each write of a contact,
// after each read of a contact and after each read of a page of contacts. A test uses the
// hooks to determine the order of concurrent calls.
type gatedAccount struct {
	sending.Account
	beforePut     func(sending.Contact)
	afterContact  func(email string)
	afterContacts func()
}

func (g *gatedAccount) PutContact(ctx context.Context, org string, c sending.Contact) error {
	if g.beforePut != nil {
		g.beforePut(c)
	}
	return g.Account.PutContact(ctx, org, c)
}

func (g *gatedAccount) Contact(ctx context.Context, org, email string) (sending.Contact, error) {
	c, err := g.Account.Contact(ctx, org, email)
	if g.afterContact != nil {
		g.afterContact(email)
	}
	return c, err
}

func (g *gatedAccount) Contacts(ctx context.Context, org, token string) ([]sending.Contact, string, error) {
	page, next, err := g.Account.Contacts(ctx, org, token)
	if g.afterContacts != nil {
		g.afterContacts()
	}
	return page, next, err
}

// watchedStore wraps the database of contacts and calls a hook after each lookup by
// external id.
type watchedStore struct {
	contacts.Store
	byExternalID func()
}

func (w *watchedStore) ContactByExternalID(ctx context.Context, org, id string) (contacts.Contact, error) {
	c, err := w.Store.ContactByExternalID(ctx, org, id)
	if w.byExternalID != nil {
		w.byExternalID()
	}
	return c, err
}

// writer runs contact operations and syncs of a product. The wrappers in account and store
// call the hooks of a test.
type writer struct {
	p       *product.Product
	account *gatedAccount
	store   *watchedStore
	people  *contacts.Contacts
	sync    *topics.Sync
}

func newWriter(p *product.Product) *writer {
	w := &writer{p: p, account: &gatedAccount{Account: p.Simulator}, store: &watchedStore{Store: p.DB.Contacts()}}
	quiet := slog.New(slog.DiscardHandler)
	w.sync = servetest.NewSync(p.DB, w.account, p.Clock.Now, quiet)
	w.people = contacts.New(contacts.Config{
		Store: w.store, VisitorIDs: visitorids.New(visitorids.Config{Store: p.DB.VisitorIDs()}), Notes: p.DB.AccountNotes(), Attributes: p.DB.Attributes(), List: w.sync.Topics.Live, Lists: lists.New(lists.Config{Store: p.DB.Lists(), Members: p.DB.ListMembers(), Clock: p.Clock.Now}), Locks: w.sync.Topics.Locks, Account: w.account, Clock: p.Clock.Now,
	})
	return w
}

// call runs the operation with the given name on behalf of the demo organization. It
// decodes the JSON arguments, prepares the input, and runs the operation in a transaction,
// as the server does.
func (w *writer) call(ctx context.Context, name, arguments string) error {
	c := &core.Call{Principal: core.Principal{Org: core.Org{ID: w.p.OrgID}}, Surface: core.Agent, Now: w.p.Clock.Now()}
	defer c.Finish()
	for _, op := range w.people.Operations() {
		if op.Info().Name != name {
			continue
		}
		in, err := op.Decode(core.Agent, []byte(arguments))
		if err != nil {
			return err
		}
		if in, err = op.Prepare(ctx, c, in); err != nil {
			return err
		}
		return w.p.DB.InTx(ctx, func(ctx context.Context) error {
			_, err := op.Do(ctx, c, in)
			return err
		})
	}
	return core.NotFound("operation")
}

// awaitLook waits for a value on the channel. A concurrent call sends the value after it
// has looked up the contact by external id. awaitLook returns after 200 ms without a value,
// because the concurrent call is then probably waiting for a lock.
func awaitLook(looked <-chan struct{}) {
	select {
	case <-looked:
	case <-time.After(200 * time.Millisecond):
	}
}

// TestSyncDoesNotUndoAnOptOutUnderWay runs an opt-out and a sync at once. The sync reads
// the contact at the sending account before the opt-out is written there, and stores the
// contact after the opt-out was written. The contact in the database must still be opted
// out.
func TestSyncDoesNotUndoAnOptOutUnderWay(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		w := newWriter(p)
		atAccount, pageRead, written := make(chan struct{}), make(chan struct{}), make(chan error, 1)
		w.account.beforePut = func(sending.Contact) { close(atAccount); <-pageRead }
		first := true
		w.account.afterContacts = func() {
			if first {
				first = false
				close(pageRead)
				if err := <-written; err != nil {
					t.Errorf("the write: %v", err)
				}
			}
		}
		p.Clock.Freeze(p.Clock.Now())
		go func() {
			written <- w.call(context.WithoutCancel(t.Context()), "contacts_update", `{"email":"`+p.Contact+`","unsubscribe_all":true}`)
		}()
		<-atAccount
		p.Clock.Advance(time.Second)
		if _, err := w.sync.Run(t.Context(), p.OrgID); err != nil {
			t.Fatal(err)
		}
		mirrored, err := p.DB.Contacts().ContactByEmail(t.Context(), p.OrgID, p.Contact)
		if err != nil {
			t.Fatal(err)
		}
		if !mirrored.UnsubscribeAll {
			t.Error("the mirror has forgotten the opt-out that was confirmed to the caller")
		}
	})
}

// TestUpsertAfterAMoveDoesNotLoseAnOptOut checks an upsert by external id that waits for
// the lock of the contact's address. If the address changes while it waits, the upsert must
// also lock the new address. Otherwise it would overwrite an opt-out made between the
// upsert's read and its write.
func TestUpsertAfterAMoveDoesNotLoseAnOptOut(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		w, ctx := newWriter(p), context.WithoutCancel(t.Context())
		if err := w.call(ctx, "contacts_upsert", `{"email":"old@example.com","external_id":"e1"}`); err != nil {
			t.Fatal(err)
		}
		moving, move, looked := make(chan struct{}), make(chan struct{}), make(chan struct{}, 16)
		moved, upserted := make(chan error, 1), make(chan error, 1)
		w.account.beforePut = func(sending.Contact) { close(moving); <-move }
		go func() { moved <- w.call(ctx, "contacts_upsert", `{"email":"new@example.com","external_id":"e1"}`) }()
		<-moving
		w.account.beforePut = nil
		w.store.byExternalID = func() { looked <- struct{}{} }

		read, resume := make(chan struct{}), make(chan struct{})
		gate := true
		go func() {
			upserted <- w.call(ctx, "contacts_upsert", `{"external_id":"e1","attributes":{"city":"Oslo"}}`)
		}()
		awaitLook(looked)
		w.account.afterContact = func(email string) {
			if gate && email == "new@example.com" {
				gate = false
				close(read)
				<-resume
			}
		}
		close(move)
		if err := <-moved; err != nil {
			t.Fatal(err)
		}
		<-read
		optedOut := make(chan error, 1)
		go func() {
			optedOut <- w.call(ctx, "contacts_update", `{"email":"new@example.com","unsubscribe_all":true}`)
		}()
		select {
		case err := <-optedOut: // the opt-out did not wait for a lock
			if err != nil {
				t.Error(err)
			}
			close(resume)
		case <-time.After(200 * time.Millisecond): // the opt-out waits for the lock, as expected
			close(resume)
			if err := <-optedOut; err != nil {
				t.Error(err)
			}
		}
		if err := <-upserted; err != nil {
			t.Fatal(err)
		}
		held, err := p.Simulator.Contact(ctx, p.OrgID, "new@example.com")
		if err != nil {
			t.Fatal(err)
		}
		if !held.UnsubscribeAll {
			t.Error("the account has forgotten the opt-out that was confirmed to the caller")
		}
	})
}

// TestArchiveAfterAMoveTakesTheContactOff archives a contact while a concurrent call
// changes its address. The archiving must then remove the new address from the sending
// account's contact list.
func TestArchiveAfterAMoveTakesTheContactOff(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		w, ctx := newWriter(p), context.WithoutCancel(t.Context())
		if err := w.call(ctx, "contacts_upsert", `{"email":"old@example.com","external_id":"e1"}`); err != nil {
			t.Fatal(err)
		}
		moving, move, looked := make(chan struct{}), make(chan struct{}), make(chan struct{}, 16)
		moved, archived := make(chan error, 1), make(chan error, 1)
		w.account.beforePut = func(sending.Contact) { close(moving); <-move }
		go func() { moved <- w.call(ctx, "contacts_upsert", `{"email":"new@example.com","external_id":"e1"}`) }()
		<-moving
		w.store.byExternalID = func() { looked <- struct{}{} }
		go func() { archived <- w.call(ctx, "contacts_archive", `{"external_id":"e1"}`) }()
		awaitLook(looked)
		close(move)
		for _, done := range []chan error{moved, archived} {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		contact, err := p.DB.Contacts().ContactByExternalID(ctx, p.OrgID, "e1")
		if err != nil || contact.Status != contacts.Archived {
			t.Fatalf("%+v, %v", contact, err)
		}
		if _, err := p.Simulator.Contact(ctx, p.OrgID, contact.Email); !sending.IsNotFound(err) {
			t.Errorf("the archived contact is still on the account's list: %v", err)
		}
	})
}
