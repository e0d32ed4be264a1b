package access

import (
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// New returns the stores of this package on the database.
func New(db *engine.DB) access.Stores {
	return access.Stores{
		Keys: keyStore{db}, Clients: clientStore{db}, OpenClients: clientStore{db}, Grants: grantStore{db}, Tokens: grantStore{db},
		Audit: auditStore{db},
	}
}
