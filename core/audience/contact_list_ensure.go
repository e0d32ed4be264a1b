package audience

import (
	"context"
	"errors"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// errNoList is wrapped by what onList fails with when the account has no contact list
// and none could be made there.
var errNoList = errors.New("the account has no contact list")

// onList runs a write that needs the account's contact list. Where the account has
// none, it makes the list and runs the write again, so that a new organization's first
// contact or topic needs no preparation. bare is true then: the list has no topics. It
// fails with the account's failure.
func (a *Audience) onList(ctx context.Context, orgID string, write func(bare bool) error) error {
	err := write(false)
	if !sending.IsNotFound(err) {
		return err
	}
	if err := a.Account.EnsureContactList(ctx, orgID); err != nil {
		return fmt.Errorf("%w: %w", errNoList, err)
	}
	a.topics.forget(orgID)
	a.Log.InfoContext(ctx, "the sending account got a contact list", "org_id", orgID)
	return write(true)
}

// unavailable turns a failure of the account into the error that callers of a write
// see. Waiting does not help where no account is connected, or where the account does not
// let Mailhelm make a contact list. The answer is then conflict and says who has to do
// what.
func unavailable(err error) error {
	f, ok := errors.AsType[*sending.Failure](err)
	var refused *core.Error
	switch {
	case ok && f.Kind == sending.NotConnected:
		refused = core.Conflict("No sending account is connected to this organization, so there is no contact list to write to.",
			"Connect a sending account with `mailhelm admin account connect` or in the dashboard under Sending account, then repeat the call.")
	case ok && errors.Is(err, errNoList) && (f.Kind == sending.Unsupported || f.Kind == sending.Invalid || f.Kind == sending.NotFound):
		refused = core.Conflict("The connected sending account has no contact list and does not let Mailhelm make one.",
			"Allow the action `ses:CreateContactList` to Mailhelm's key or role, or run "+
				"`aws sesv2 create-contact-list --contact-list-name "+sending.DefaultContactList+"` in the account, then repeat the call.")
	default:
		return sending.Unavailable(err)
	}
	refused.Err = err
	return refused
}
