package outgoing

import (
	"context"

	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/suppression"
)

// AccountList reads the suppression list in the sending account. A diagnosis, which
// explains why a message did not arrive, uses it.
type AccountList struct{ Account sending.Suppressions }

// FindSuppressed returns the entry of an email address in the account's suppression list,
// or nil if there is none. It returns every error of the account except NotFound, so that a
// diagnosis can mention the error.
func (l AccountList) FindSuppressed(ctx context.Context, orgID, email string) (*messages.SuppressedRecipient, error) {
	found, err := l.Account.FindSuppressed(ctx, orgID, email)
	if sending.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &messages.SuppressedRecipient{Reason: string(found.Reason), At: found.At}, nil
}

// JudgedList reads the addresses that Mailhelm itself lists as undeliverable. A diagnosis,
// which explains why a message did not arrive, uses it.
type JudgedList struct{ Judged *suppression.Suppression }

// Undeliverable returns the entry of an email address in Mailhelm's list of undeliverable
// addresses. It returns nil if the address is not listed, or if an operator excluded it
// from the list.
func (l JudgedList) Undeliverable(ctx context.Context, orgID, email string) (*messages.UndeliverableRecipient, error) {
	found, err := l.Judged.Undeliverable(ctx, orgID, email)
	if err != nil || found == nil || found.Status != suppression.Listed {
		return nil, err
	}
	return &messages.UndeliverableRecipient{Reason: string(found.Reason), LastSeenAt: found.LastSeenAt}, nil
}
