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
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
)

// SendingAccount reads the state of the sending account and requests production access.
type SendingAccount interface {
	Standing(ctx context.Context, org core.Org) (account.Standing, error)
	// RequestProductionAccess stores a request and sends it to the provider. If the provider
	// refuses the request, the method returns both the stored request and the error.
	RequestProductionAccess(ctx context.Context, tx core.Transactor, orgID string, wanted sending.ProductionRequest) (sending.AccessRequest, error)
}

// Connections reads an organization's connection to its sending account. Connection fails
// with core.CodeNotFound if no account is connected.
type Connections interface {
	Connection(ctx context.Context, orgID string) (sending.Connection, error)
}

// Syncs reads how the latest syncs with the sending account ended.
type Syncs interface {
	SyncResults(ctx context.Context, orgID string) ([]sending.SyncResult, error)
}

// Channels reads channels, identities and tracking domains, and makes discovered channels
// active.
type Channels interface {
	Standing(ctx context.Context, orgID string, limit int) (channels.Standing, error)
	// Adopt makes the discovered channel with this slug active, in the transaction of ctx.
	Adopt(ctx context.Context, orgID, slug string) (channels.Channel, error)
}

// Memberships changes members, invitations and settings. Each method fails with
// invalid_scope if the actor is not allowed to make the change.
type Memberships interface {
	SetPermissions(ctx context.Context, actor access.Actor, orgID, userID string, permissions []members.Permission) (members.Member, error)
	SetRole(ctx context.Context, actor access.Actor, orgID, userID string, role members.Role) (members.Member, error)
	RemoveMember(ctx context.Context, actor access.Actor, orgID, userID string) error
	// Invite stores an invitation and returns it with the secret of its link. The secret
	// itself is not stored.
	Invite(ctx context.Context, actor access.Actor, n members.NewInvitation) (members.Invitation, string, error)
	WithdrawInvitation(ctx context.Context, actor access.Actor, orgID, id string) error
	EditSettings(ctx context.Context, actor access.Actor, orgID string, edit members.SettingsEdit, proven bool) (core.Org, error)
}

// Joining reads and accepts invitations. The argument secret is the secret of an
// invitation's link.
type Joining interface {
	FindOffer(ctx context.Context, secret string) (members.Offer, error)
	Join(ctx context.Context, secret string, user access.User) (members.Member, error)
	// JoinNew creates an account for the invited person and makes the person a member.
	JoinNew(ctx context.Context, secret, name, password string) (members.Member, error)
}

// Entrance has the functions of the sign-in pages that the page of an invitation needs.
type Entrance interface {
	// Visitor returns the signed-in sender of the request. It fails without a valid session;
	// IsSignedOut reports whether this is the cause of an error.
	Visitor(r *http.Request) (people.Visitor, error)
	IsSignedOut(err error) bool
	// SignInAddress returns the path of the sign-in page. After signing in, the page
	// redirects to next, a path of this host.
	SignInAddress(next string) string
	// ProvePassword returns the user with this address if the password is right. It limits
	// attempts as sign-in does, and starts no session.
	ProvePassword(r *http.Request, email, password string) (access.User, error)
	// Enter starts the first session of a user who has just been created.
	Enter(w http.ResponseWriter, r *http.Request, member members.Member) error
	// WorkIn switches the visitor's session to another of their organizations.
	WorkIn(r *http.Request, orgID string) error
}

// Members reads the members of an organization.
type Members interface {
	Member(ctx context.Context, orgID, userID string) (members.Member, error)
	Members(ctx context.Context, orgID string) ([]members.Member, error)
}

// Users reads the account of a person.
type Users interface {
	UserByID(ctx context.Context, userID string) (access.User, error)
}

// Invitations lists the open and expired invitations of an organization, newest first.
type Invitations interface {
	Invitations(ctx context.Context, orgID string) ([]members.Invitation, error)
}

// Factors reads the second factors that a person has set up.
type Factors interface {
	FactorsOf(ctx context.Context, userID string) (people.Factors, error)
}

// AuditLog reads events of an organization's audit log, newest first.
type AuditLog interface {
	FindAudit(ctx context.Context, orgID string, f access.AuditFilter) ([]access.AuditEvent, error)
}

// Config configures the pages of this package. All fields are required.
type Config struct {
	Account     SendingAccount
	Connections Connections
	Syncs       Syncs
	Channels    Channels
	Memberships Memberships
	Joining     Joining
	Entrance    Entrance
	Members     Members
	Users       Users
	// Actors names the actors and subjects of the audit log.
	Actors      actors.Actors
	Invitations Invitations
	Factors     Factors
	Audit       AuditLog
	// Writes are the titles of the operations that write, by name. The audit log shows the
	// title for a call of an operation.
	Writes map[string]string
	// Connecting changes the connection to the sending account. For each request, the pages
	// use a copy of Connecting whose Transactor checks the visitor's permission and whose
	// Record names the visitor as the actor.
	Connecting sending.Connecting
	// Sending is the sending account. The page of the account uses it to check the account's
	// permissions and settings.
	Sending sending.Account
	// SyncAccount schedules a sync of an organization's sending account, in the transaction
	// of ctx. It returns false if a sync is already scheduled.
	SyncAccount func(ctx context.Context, orgID string) (bool, error)
	// EventsAddress returns the URL to which the provider sends the events of a connection.
	// ingestPath is the organization's part of this URL.
	EventsAddress func(ingestPath string) string
	// AppURL is the public origin of the dashboard. DocsURL is the root URL of the
	// documentation.
	AppURL, DocsURL string
	Clock           core.Clock
}
