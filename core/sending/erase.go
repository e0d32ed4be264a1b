package sending

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// Eraser erases the addresses of people who ask to be forgotten.
type Eraser interface {
	// EraseAddress deletes everything that the account stores about an address, ignoring case:
	// the contact, its entry in the suppression list and, in a simulated account, the messages
	// to it. It succeeds if the account stores nothing about it, and may be repeated. It fails with
	// NotConnected if the organization has no account. Callers
	// must refuse mail to addresses that bounced or opted out themselves from then on.
	EraseAddress(ctx context.Context, orgID, email string) error
}

// EraseAddress erases an address in the organization's account; see [Eraser].
func (a *Accounts) EraseAddress(ctx context.Context, orgID, email string) error {
	account, err := a.accountOf(ctx, orgID)
	if err != nil {
		return err
	}
	return account.EraseAddress(ctx, orgID, email)
}

// TakeBackErased deletes a contact that was just written to an account, if its person was erased in the meantime.
// read is the error of reading the stored contact by its id after that write: a NotFound error means that it is gone.
// TakeBackErased returns other errors of read. Another process can erase persons, so an erasure does not wait for the
// locks of addresses. It erases the person at the account again after the database, so either the erasure or the
// writer sees the other. If a new contact has the address by now, the next sync adds it to the account again.
func TakeBackErased(ctx context.Context, account Account, orgID, email string, read error) error {
	if !core.IsNotFound(read) {
		return read
	}
	if err := account.DeleteContact(ctx, orgID, email); !IsAbsent(err) {
		return err
	}
	return nil
}
