package sending

import "context"

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
