package inboxes

import (
	"context"
	"log/slog"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/jobs"
)

// Config configures [Inboxes]. All fields are required, unless their comments define what nil
// means.
type Config struct {
	Store    Store
	Messages MessageStore
	// Deliveries is needed by [Inboxes.Destination].
	Deliveries DeliveryStore
	Tokens     TokenStore
	Purges     PurgeStore
	// Claims knows verified addresses. nil means that no address can be verified.
	Claims   Claims
	Domains  Domains
	Accounts Accounts
	Objects  Objects
	Sealer   Sealer
	Waiting  *Waiting
	// Queue runs the purge of a deleted inbox at once.
	Queue jobs.Queue
	// Domain is the domain of the addresses, in lower case with A-labels.
	Domain string
	// BaseURL is the address of the API, and FetchURL that of the pull host.
	BaseURL, FetchURL string
	Clock             core.Clock
	Log               *slog.Logger
}

// Claims knows which addresses a person has proven to own.
type Claims interface {
	// HasVerified reports whether the owner (see [core.Principal.Owner]) has proven the address
	// in the organization. The address is in lower case.
	HasVerified(ctx context.Context, orgID, owner, address string) (bool, error)
}

// Domains knows the domains from which an organization may send.
type Domains interface {
	// HasDomain reports whether the domain, in lower case, is a verified identity of the
	// organization.
	HasDomain(ctx context.Context, orgID, domain string) (bool, error)
}

// Accounts knows the sending accounts of organizations.
type Accounts interface {
	// HasAccount reports whether the organization has connected a sending account of its own.
	HasAccount(ctx context.Context, org core.Org) (bool, error)
}

// Sealer encrypts the secrets of pull links for the record of a repeated call. id is the id of
// the pull link.
type Sealer interface {
	Seal(purpose, id string, plain []byte) ([]byte, error)
	Open(purpose, id string, sealed []byte) ([]byte, error)
}

// Inboxes has the operations on temporary inboxes.
type Inboxes struct{ *Reader }

// Reader reads inboxes and their messages.
type Reader struct{ Config }

// New returns an Inboxes.
func New(cfg Config) *Inboxes { return &Inboxes{&Reader{cfg}} }

// Operations returns the operations of this package, in the order of the operation catalogue.
func (x *Inboxes) Operations() []core.Operation {
	return []core.Operation{
		x.inboxesCreate(), x.inboxesList(), x.inboxesGet(), x.inboxesUpdate(), x.inboxesDelete(), x.inboxesMessages(),
		x.pullTokensCreate(), x.pullTokensList(), x.pullTokensRevoke(),
	}
}

// visible returns an inbox that the caller may see. For others it fails with
// core.CodeNotFound.
func (x *Reader) visible(ctx context.Context, p core.Principal, id string) (Inbox, error) {
	if !core.IsID(id) {
		return Inbox{}, errNoInbox()
	}
	found, err := x.Store.Inbox(ctx, p.Org.ID, id)
	if err == nil && !found.IsVisibleTo(p) {
		err = errNoInbox()
	}
	return found, err
}

// errEnded is the error for messages and pull links of an inbox that has ended.
func errEnded(status Status) *core.Error {
	word := "expired"
	if status == Deleted {
		word = "was deleted"
	}
	return &core.Error{Code: core.CodeInboxExpired, Message: "The inbox " + word + ", and its messages are deleted."}
}
