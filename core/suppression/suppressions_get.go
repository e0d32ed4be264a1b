package suppression

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// GetSuppressionIn names an address.
type GetSuppressionIn struct {
	Email string `json:"email" jsonschema:"format=email,maxLength=254" jsonschema_description:"The whole address; case does not matter."`

	found Suppressed
}

func (s *Suppression) suppressionsGet() core.Operation {
	return core.Declare(core.Op[GetSuppressionIn, Suppressed]{
		Name:    "suppressions_get",
		Title:   "Read a suppressed address",
		Purpose: "Reads one address of the sending account's suppression list. An address that is not on the list is `not_found`.",
		Example: `{"email": "partner.1@shops.example.net"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.SuppressionsView},
		Fails:   []core.Code{core.CodeNotFound, core.CodeUpstreamUnavailable},
		Prepare: func(ctx context.Context, c *core.Call, in GetSuppressionIn) (GetSuppressionIn, error) {
			found, err := s.Account.FindSuppressed(ctx, c.Principal.Org.ID, in.Email)
			if sending.IsNotFound(err) {
				return in, core.NotFound("suppression")
			}
			in.found = suppressedOf(found)
			return in, sending.Unavailable(err)
		},
		Do: func(_ context.Context, _ *core.Call, in GetSuppressionIn) (Suppressed, error) { return in.found, nil },
	})
}
