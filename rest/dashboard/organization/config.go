package organization

import (
	"context"
	"net/http"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/account"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/sending"
)

// SendingAccount is the state of the sending account and the request for production access.
type SendingAccount interface {
	Standing(ctx context.Context, org core.Org) (account.Standing, error)
	// RequestProductionAccess returns the request also when the provider refused it.
	RequestProductionAccess(ctx context.Context, tx core.Transactor, orgID string, wanted sending.ProductionRequest) (sending.AccessRequest, error)
}

// Connections reads the connection to the account. Connection fails with core.CodeNotFound
// when no account is connected.
type Connections interface {
	Connection(ctx context.Context, orgID string) (sending.Connection, error)
}

// Channels reads channels, identities and tracking domains, and adopts channels.
type Channels interface {
	Standing(ctx context.Context, orgID string, limit int) (channels.Standing, error)
	// Adopt takes part in the transaction of its context.
	Adopt(ctx context.Context, orgID, slug string) (channels.Channel, error)
}

// Memberships changes members, invitations and settings. Each method checks that the actor
// may do it and refuses with invalid_scope.
type Memberships interface {
	SetPermissions(ctx context.Context, actor access.Actor, orgID, userID string, permissions []members.Permission) (members.Member, error)
	SetRole(ctx context.Context, actor access.Actor, orgID, userID string, role members.Role) (members.Member, error)
	RemoveMember(ctx context.Context, actor access.Actor, orgID, userID string) error
	// Invite returns the invitation with the secret of its link, which is not stored.
	Invite(ctx context.Context, actor access.Actor, n members.NewInvitation) (members.Invitation, string, error)
	WithdrawInvitation(ctx context.Context, actor access.Actor, orgID, id string) error
	EditSettings(ctx context.Context, actor access.Actor, orgID string, edit members.SettingsEdit, proven bool) (core.Org, error)
}

// Joining reads and accepts invitations. secret is the secret of the invitation's link.
type Joining interface {
	FindOffer(ctx context.Context, secret string) (members.Offer, error)
	Join(ctx context.Context, secret string, user access.User) (members.Member, error)
	// JoinNew creates the account of the invited person.
	JoinNew(ctx context.Context, secret, name, password string) (members.Member, error)
}

// Entrance is the part of the sign-in pages that the page of an invitation needs.
type Entrance interface {
	// Visitor returns the sender of the request. SignedOut reports whether its error means
	// that the request has no session.
	Visitor(r *http.Request) (people.Visitor, error)
	IsSignedOut(err error) bool
	// SignInAddress returns the path of the sign-in page that continues to next, a path of
	// this host.
	SignInAddress(next string) string
	// ProvePassword checks a password, with the throttle of signing in. It begins no
	// session.
	ProvePassword(r *http.Request, email, password string) (access.User, error)
	// Enter begins the first session of a new account.
	Enter(w http.ResponseWriter, r *http.Request, member members.Member) error
	// WorkIn moves the visitor's session to another of their organizations.
	WorkIn(r *http.Request, orgID string) error
}

// Members reads members.
type Members interface {
	Member(ctx context.Context, orgID, userID string) (members.Member, error)
	Members(ctx context.Context, orgID string) ([]members.Member, error)
}

// Users reads the people behind members.
type Users interface {
	UserByID(ctx context.Context, userID string) (access.User, error)
}

// Invitations lists the open and the expired invitations, newest first.
type Invitations interface {
	Invitations(ctx context.Context, orgID string) ([]members.Invitation, error)
}

// Factors returns the second factors that a person has set up.
type Factors interface {
	FactorsOf(ctx context.Context, userID string) (people.Factors, error)
}

// AuditLog reads an organization's audit log, newest event first.
type AuditLog interface {
	FindAudit(ctx context.Context, orgID string, f access.AuditFilter) ([]access.AuditEvent, error)
}

// Keys lists an organization's API keys, including expired and revoked ones. The audit log
// names them.
type Keys interface {
	APIKeysOf(ctx context.Context, orgID string) ([]access.APIKey, error)
}

// Clients lists an organization's OAuth clients, including revoked ones. The audit log names
// them.
type Clients interface {
	ClientsOf(ctx context.Context, orgID string) ([]access.Client, error)
}

// Config is what the room needs. All members are required.
type Config struct {
	Account     SendingAccount
	Connections Connections
	Channels    Channels
	Memberships Memberships
	Joining     Joining
	Entrance    Entrance
	Members     Members
	Users       Users
	Invitations Invitations
	Factors     Factors
	Audit       AuditLog
	Keys        Keys
	Clients     Clients
	// Connecting changes the connection to the account. Its Transactor and Record are
	// replaced by those of the visitor.
	Connecting sending.Connecting
	// Sending verifies the account when a visitor requests it.
	Sending sending.Account
	// SyncAccount schedules a read of an organization's account, in the transaction of ctx.
	// It returns false when such a read is scheduled already.
	SyncAccount func(ctx context.Context, orgID string) (bool, error)
	// EventsAddress returns the address that receives the events of a connection with this
	// ingest path.
	EventsAddress func(ingestPath string) string
	// AppURL is the origin of the pages, DocsURL that of the guides.
	AppURL, DocsURL string
	Clock           core.Clock
}
