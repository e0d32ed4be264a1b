package suppression

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// CheckAddressIn names an address.
type CheckAddressIn struct {
	Email string `json:"email" jsonschema:"format=email,maxLength=254" jsonschema_description:"Whole address, in any case, such as ada@example.com."`

	found *Suppressed
}

// CheckedAddress says whether an address is on the account's suppression list, and has its
// entry on the list of undeliverable addresses.
type CheckedAddress struct {
	Suppressed    bool                       `json:"suppressed" jsonschema_description:"Whether the account refuses to mail it."`
	Reason        *sending.SuppressionReason `json:"reason" jsonschema:"nullable,enum=bounce,enum=complaint,enum=manual"`
	SuppressedAt  *time.Time                 `json:"suppressed_at" jsonschema:"nullable"`
	Undeliverable *Undeliverable             `json:"undeliverable" jsonschema:"nullable" jsonschema_description:"The advisory record."`
}

func (s *Suppression) suppressionsCheckAddress() core.Operation {
	return core.Declare(core.Op[CheckAddressIn, CheckedAddress]{
		Name:  "suppressions_check_address",
		Title: "Check one address",
		Purpose: "Checks whether the account suppresses an address, and whether events mark it undeliverable. " +
			"Use it when a person got no mail. Returns both, live. It does not search.",
		Example: `{"email": "ada.almeida@example.com"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.SuppressionsView},
		Fails:   []core.Code{core.CodeUpstreamUnavailable},
		Prepare: func(ctx context.Context, c *core.Call, in CheckAddressIn) (CheckAddressIn, error) {
			found, err := s.Account.FindSuppressed(ctx, c.Principal.Org.ID, in.Email)
			if sending.IsNotFound(err) {
				return in, nil
			}
			shown := suppressedOf(found)
			in.found = &shown
			return in, sending.Unavailable(err)
		},
		Do: s.checkAddress,
	})
}

func (s *Suppression) checkAddress(ctx context.Context, c *core.Call, in CheckAddressIn) (CheckedAddress, error) {
	undeliverable, err := s.Undeliverable(ctx, c.Principal.Org.ID, in.Email)
	checked := CheckedAddress{Undeliverable: undeliverable}
	if in.found != nil {
		checked.Suppressed, checked.Reason, checked.SuppressedAt = true, &in.found.Reason, &in.found.SuppressedAt
	}
	return checked, err
}
