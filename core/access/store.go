package access

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
)

// Stores holds the stores of this package.
type Stores struct {
	Keys        KeyStore
	Clients     ClientStore
	OpenClients OpenClientStore
	Grants      GrantStore
	Tokens      TokenStore
	Audit       AuditStore
}

// Orgs finds organizations. The store of core/members implements it.
type Orgs interface {
	// Org returns the organization with this id. It fails with core.CodeNotFound if the
	// organization does not exist.
	Org(ctx context.Context, orgID string) (core.Org, error)
}
