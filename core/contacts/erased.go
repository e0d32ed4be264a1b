package contacts

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// ErasedRefusal returns the error for an address whose person was erased and must get no mail.
func ErasedRefusal() *core.Error {
	refusal := core.Invalid("email", "belongs to a person who was erased and who must get no mail")
	return refusal.WithNext("Do not write to this person. If they ask for mail again, an owner or the operator allows the address first.")
}

// checkErased fails with [ErasedRefusal] if a write gives a contact a new address that must not
// be used. existing is nil for a new contact.
func (wr writer) checkErased(ctx context.Context, org string, existing *Contact, email string) error {
	if wr.ErasedAddresses == nil || existing != nil && EmailKey(existing.Email) == EmailKey(email) {
		return nil
	}
	erased, err := wr.ErasedAddresses(ctx, org, []string{email})
	if err == nil && erased[email] {
		err = ErasedRefusal()
	}
	return err
}

// followErasure deletes at the account, when the call ends, what push wrote for an existing contact, if the contact was
// not stored because its person was erased since; see [sending.TakeBackErased]. If that fails, the address is at the
// account until the next erasure.
func (wr writer) followErasure(ctx context.Context, c *core.Call, w *write, existing *Contact) {
	if existing == nil || w.Spared || w.Consent.Email == "" {
		return
	}
	org, id := c.Principal.Org.ID, existing.ID
	c.Defer(func() {
		if w.stored {
			return
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), accountPatience)
		defer cancel()
		_, err := wr.Store.ContactByID(ctx, org, id)
		_ = sending.TakeBackErased(ctx, wr.Account, org, w.Consent.Email, err)
	})
}
