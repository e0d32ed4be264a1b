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

// Ceilings returns the scopes that a person's token may have; core/members implements it.
type Ceilings interface {
	// MemberScopes returns the scopes that the person's membership allows now. It fails with
	// core.CodeNotFound for a person who is not a member.
	MemberScopes(ctx context.Context, orgID, userID string) (core.Scopes, error)
}
