package contacts

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/topics"
)

const (
	// accountPatience limits the calls of the sending account for one choice of a recipient.
	// Mailbox providers wait only a few seconds for the answer to a one-click unsubscribe.
	accountPatience = 5 * time.Second
	// lockPatience limits the wait for the lock of the contact's address. Other writes of one
	// contact hold it for a shorter time. The job that pushes consent holds it longer while
	// an account does not answer; it does not overwrite what is queued during that time.
	lockPatience = 20 * time.Second
)

// PushQueue queues consent for the job that writes it to the sending account.
type PushQueue interface {
	// QueuePush queues the consent of a contact in the transaction of its context. It
	// replaces what is queued for the contact. The job may write the consent from the time at
	// on.
	QueuePush(ctx context.Context, orgID, contactID string, pending consent.Pending, at time.Time) error
}

// RecipientChoice is consent that the recipient of a mail states on a page of Mailhelm.
type RecipientChoice struct {
	// ContactID is the id of the contact to which the mail was sent.
	ContactID string
	Statement consent.Statement
	// OnStore is called in the transaction that stores the choice, with the contact before
	// and after. The transaction may run again. nil means that it is not called.
	OnStore func(ctx context.Context, before, after Contact) error
}

// RecordChoice writes the choice to the sending account and then stores it, with the source
// [consent.ByRecipient]. It returns the contact after the change. If the account fails or
// does not answer in time, RecordChoice stores the choice all the same and queues it for
// the job that writes consent to the account: an opt-out must never be lost. The choice of
// an archived contact is only stored; the contact stays archived, and a write that
// activates it keeps its opt-outs.
//
// It fails with core.CodeNotFound if the contact does not exist. It may be repeated.
func (cs *Contacts) RecordChoice(ctx context.Context, tx core.Transactor, orgID string, r RecipientChoice) (Contact, error) {
	c := &core.Call{Principal: core.Principal{Org: core.Org{ID: orgID}}, Now: cs.Clock()}
	defer c.Finish()
	w := &write{
		Plan:      Plan{Way: Updating, Stated: Stated{UnsubscribeAll: r.Statement.UnsubscribeAll}, Topics: topics.ChoicesOf(r.Statement.Topics)},
		contactID: r.ContactID, by: consent.ByRecipient,
	}
	recorder := choiceRecorder{cs.writer()}
	accepted, err := recorder.offer(ctx, c, w)
	if err != nil {
		return Contact{}, err
	}
	var after Contact
	err = tx.InTx(ctx, func(ctx context.Context) error {
		before, err := cs.Store.ContactByID(ctx, orgID, r.ContactID)
		if err != nil {
			return err
		}
		if after, err = recorder.store(ctx, c, *w, before, accepted); err != nil || r.OnStore == nil {
			return err
		}
		return r.OnStore(ctx, before, after)
	})
	w.stored = err == nil
	return after, err
}

// choiceRecorder has the two steps of [Contacts.RecordChoice].
type choiceRecorder struct{ writer writer }

// offer locks the address of the contact until the call ends, and writes the choice of
// an active contact to the sending account. It reports whether the account accepted the
// choice. It returns no failure of the account, because the push of the choice meets the
// cause again and logs it.
func (cr choiceRecorder) offer(ctx context.Context, c *core.Call, w *write) (bool, error) {
	locking, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	existing, err := cr.writer.lockIdentifiers(locking, c, w)
	if locking.Err() != nil && ctx.Err() == nil {
		return false, nil
	}
	if err != nil || existing == nil || existing.Status == Archived {
		return false, err
	}
	asking, cancelAsking := context.WithTimeout(ctx, accountPatience)
	defer cancelAsking()
	defer cr.writer.followErasure(ctx, c, w, existing)
	return cr.writer.pushLocked(asking, c.Principal.Org.ID, w, existing) == nil, nil
}

// store stores the choice in the transaction of the context. accepted is true if the
// sending account accepted it. Another process may have archived or activated the contact,
// or changed its address, since then.
func (cr choiceRecorder) store(ctx context.Context, c *core.Call, w write, before Contact, accepted bool) (Contact, error) {
	org := c.Principal.Org.ID
	if before.Status == Archived {
		return cr.storeArchived(ctx, c, w, before)
	}
	accepted = accepted && w.mayReplaceAddress(&before)
	if !accepted {
		w.Told = Told{Consent: w.DecideConsent(&before, ConsentOf(before)), OldEmail: before.Email}
		w.Consent.Email = before.Email
	}
	written, err := cr.writer.store(ctx, c, &w)
	if err != nil || accepted {
		return written.Contact, err
	}
	queued, err := cr.writer.Store.PendingPush(ctx, org, before.ID)
	if err != nil {
		return written.Contact, err
	}
	now := written.Contact.UpdatedAt
	return written.Contact, cr.writer.Pushes.QueuePush(ctx, org, before.ID, *queued.Add(w.StatedConsent(), "", now), now)
}

// storeArchived stores the choice of an archived contact.
func (cr choiceRecorder) storeArchived(ctx context.Context, c *core.Call, w write, before Contact) (Contact, error) {
	org, now := c.Principal.Org.ID, cr.writer.Clock()
	after := before.WithConsent(w.DecideConsent(&before, ConsentOf(before)))
	after.UpdatedAt = now
	after.ConsentChanges = w.ConsentChanges(&before, after, consent.ChangeAt(now, w.source(c)), time.Time{})
	if err := cr.writer.Store.UpdateContact(ctx, org, after); err != nil {
		return Contact{}, err
	}
	return after, cr.writer.reportChanged(ctx, org, after.ID)
}
