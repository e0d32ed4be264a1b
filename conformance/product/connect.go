package product

import (
	"context"
	"testing"

	"github.com/mailhelm/mailhelm/core/sending"
)

// Connect connects a sending account to an organization, as another process of the installation would: nothing
// tells this product but the database. follow is called in the transaction of the change; it may be nil.
func (p *Product) Connect(t testing.TB, n sending.NewConnection, follow func(ctx context.Context, orgID string) error) {
	t.Helper()
	connecting := sending.Connecting{
		Connections: p.Connections, Transactor: p.DB, Clock: p.Clock.Now, Follow: follow,
		Record: func(context.Context, string, string, map[string]any) error { return nil },
		KeepList: func(ctx context.Context, orgID string, provider sending.Provider) error {
			if provider != sending.SMTP {
				return nil
			}
			return p.DB.Consent().EnsureContactList(ctx, orgID)
		},
	}
	if _, err := connecting.Connect(t.Context(), n); err != nil {
		t.Fatalf("product: connect an account: %v", err)
	}
}
