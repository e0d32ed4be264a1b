package receiving

import (
	"context"
	"log/slog"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
)

// Config has the dependencies of [Receiving]. All fields are required, unless their comments
// say what the zero value means.
type Config struct {
	Store  Store
	Log    LogStore
	Ending Ending
	// Identities has the sending identities, which prove that a domain belongs to an
	// organization.
	Identities Identities
	// Region returns the region from which an organization sends, "" if it is unknown.
	Region func(ctx context.Context, orgID string) (string, error)
	// Receivers are the ways in which mail is received. The zero value means none.
	Receivers Receivers
	// Reserved are domains that receive mail for other purposes, such as that of temporary
	// inboxes. They cannot be receiving domains.
	Reserved []string
	DNS      channels.DNS
	Hosts    Hosts
	Sealer   Sealer
	Clock    core.Clock
	Logger   *slog.Logger
	// Networks is true if the operator allows webhooks in private networks.
	Networks bool
	// Wake lets the publisher of this process look at once, after the transaction of a change;
	// nil means that it looks by itself.
	Wake func()
}

// Identities finds sending identities.
type Identities interface {
	// Identity returns the identity with a domain in lower case, or a NotFound error.
	Identity(ctx context.Context, orgID, key string) (channels.Identity, error)
}

// Sealer encrypts secrets. id is the record to which the secret belongs.
type Sealer interface {
	Seal(purpose, id string, plain []byte) ([]byte, error)
	Open(purpose, id string, sealed []byte) ([]byte, error)
}

// Receiving has the operations on receiving domains and the log of received mail, and their
// jobs.
type Receiving struct{ Config }

// New returns a Receiving.
func New(cfg Config) *Receiving { return &Receiving{cfg} }

// Operations returns the operations of this package, in the order of the operation catalogue.
func (r *Receiving) Operations() []core.Operation {
	return []core.Operation{
		r.domainsList(), r.domainsCreate(), r.domainsGet(), r.domainsDelete(), r.domainsVerify(),
		r.webhookPut(), r.webhookDelete(), r.webhookRotate(),
		r.addressesList(), r.addressesCreate(), r.addressesDelete(),
		r.messagesList(), r.messagesGet(),
	}
}

// DomainIn names a receiving domain.
type DomainIn struct {
	Domain string `json:"domain" jsonschema:"minLength=1,maxLength=254" jsonschema_description:"Name or id of the receiving domain."`
}

// domainOf returns the domain that a caller names. In a transaction it locks the domain.
func (r *Receiving) domainOf(ctx context.Context, c *core.Call, named string) (Domain, error) {
	return r.Store.Domain(ctx, c.Principal.Org.ID, reference(named))
}

// publishSoon lets the publisher look after the call has ended.
func (r *Receiving) publishSoon(c *core.Call) {
	if r.Wake != nil {
		c.Defer(r.Wake)
	}
}
