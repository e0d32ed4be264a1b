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

// Connections reads how an account is reached. Connection fails with core.CodeNotFound
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

// Memberships changes members, invitations and settings. Each task checks whether the
// actor may do it and refuses with invalid_scope.
type Memberships interface {
	SetPermissions(ctx context.Context, actor access.Actor, orgID, userID string, permissions []members.Permission) (members.Member, error)
	SetRole(ctx context.Context, actor access.Actor, orgID, userID string, role members.Role) (members.Member, error)
	RemoveMember(ctx context.Context, actor access.Actor, orgID, userID string) error
	// Invite returns the secret of the invitation's link, which is not stored.
	Invite(ctx context.Context, actor access.Actor, n members.NewInvitation) (members.Invitation, string, error)
	WithdrawInvitation(ctx context.Context, actor access.Actor, orgID, id string) error
	EditSettings(ctx context.Context, actor access.Actor, orgID string, edit members.SettingsEdit, proven bool) (core.Org, error)
}

// Joining reads and accepts invitations by the secret of their link.
type Joining interface {
	Offered(ctx context.Context, secret string) (members.Offer, error)
	Join(ctx context.Context, secret string, user access.User) (members.Member, error)
	// JoinNew creates the account of the invited person.
	JoinNew(ctx context.Context, secret, name, password string) (members.Member, error)
}

// Entrance is the part of the sign-in pages that the page of an invitation needs.
type Entrance interface {
	// Visitor returns who sent the request. SignedOut reports whether its error says that
	// the request has no session.
	Visitor(r *http.Request) (people.Visitor, error)
	SignedOut(err error) bool
	// SignInAddress returns the sign-in page that leads on to next, a path of this host.
	SignInAddress(next string) string
	// ProvePassword checks a password as signing in does and begins no session.
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

// Invitations lists the invitations that are open or have expired, newest first.
type Invitations interface {
	Invitations(ctx context.Context, orgID string) ([]members.Invitation, error)
}

// Factors returns the second factors that a person has set up.
type Factors interface {
	Of(ctx context.Context, userID string) (people.Factors, error)
}

// AuditLog reads an organization's audit log, newest line first.
type AuditLog interface {
	FindAudit(ctx context.Context, orgID string, f access.AuditFilter) ([]access.AuditEvent, error)
}

// Keys lists an organization's API keys, ended ones too. The audit log names them.
type Keys interface {
	APIKeysOf(ctx context.Context, orgID string) ([]access.APIKey, error)
}

// Clients lists an organization's OAuth clients, ended ones too. The audit log names them.
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
	// Connecting changes how the account is reached. Its Transactor and Record are replaced
	// by those of the visitor.
	Connecting sending.Connecting
	// Sending is asked when a visitor verifies the account.
	Sending sending.Account
	// SyncAccount schedules reading everything that is mirrored of an organization's
	// account, in the transaction of its context. It returns false when that is under way
	// already.
	SyncAccount func(ctx context.Context, orgID string) (bool, error)
	// EventsAddress returns the address that receives the events of a connection with this
	// ingest path.
	EventsAddress func(ingestPath string) string
	// AppURL is the origin of the pages, DocsURL that of the guides.
	AppURL, DocsURL string
	Clock           core.Clock
}
