// Package catalogue is the table of contents of the product: every operation, in
// the order in which documentation and tools/list show them. It owns the order
// and nothing else; what an operation is stands in its domain.
package catalogue

import (
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/account"
	"github.com/mailhelm/mailhelm/core/audience"
)

// Domains are the parts of the product that do the work. A zero member is fine
// for whoever only reads the declarations, as the documentation does.
type Domains struct {
	Account  *account.Account
	Audience *audience.Audience
}

// Operations returns every operation in order.
func Operations(d Domains) []core.Operation {
	if d.Account == nil {
		d.Account = account.New(account.Config{Clock: core.SystemClock})
	}
	if d.Audience == nil {
		d.Audience = audience.New(audience.Config{Clock: core.SystemClock})
	}
	return slices.Concat(
		d.Account.Operations(),
		[]core.Operation{access.CredentialsGetScopes()},
		d.Audience.Operations(),
	)
}
