package sending

import (
	"context"
	"time"
)

// Provider is what kind of sending account an organization has.
type Provider string

// The providers.
const (
	Simulated Provider = "simulator"
	SES       Provider = "ses"
	SMTP      Provider = "smtp"
)

// Connection is how Mailhelm reaches an organization's sending account. Secret is
// in the clear here and sealed in the database; it is never logged or shown.
type Connection struct {
	OrgID    string
	Provider Provider
	// AccountID is the provider's own id of the account, "" while unknown.
	AccountID string
	Region    string
	// Endpoint replaces the provider's own address; "" means that one. For SMTP it
	// is host:port.
	Endpoint string
	// AccessKeyID with Secret are credentials of the provider, or the user name and
	// password of an SMTP server. RoleARN with ExternalID is a role to take on
	// instead, or on top.
	AccessKeyID string
	Secret      string
	RoleARN     string
	ExternalID  string
	// TopicARN is the one notification topic from which events are taken.
	TopicARN string
	// Identities are the addresses and domains that an SMTP account sends from; a
	// domain covers those below it. With none, its server alone judges senders.
	Identities []string
	// Max24HourSend is how many recipients an SMTP account may have in 24 hours, and
	// MaxSendRate how many messages it may send in a second. Zero is no limit.
	Max24HourSend, MaxSendRate int64
	// MayReachPrivate is set when the installation's operator named Endpoint: it may
	// then lead into networks that are not public, which no customer can be let into.
	MayReachPrivate bool
	// TemplateVersion is the version of the infrastructure template that the
	// customer applied; 0 while none is recorded.
	TemplateVersion int
	// IngestPath is the organization's own part of the address that events are sent
	// to. It names the organization and proves nothing.
	IngestPath string
	// IngestKeyHash is the SHA-256 of the key that events come with when they are
	// not signed; nil when none was made.
	IngestKeyHash []byte

	CreatedAt, UpdatedAt time.Time
}

// LatestTemplateVersion is the newest infrastructure template there is.
const LatestTemplateVersion = 13

// Connections remembers how accounts are reached. Finders fail with
// core.CodeNotFound.
type Connections interface {
	Connection(ctx context.Context, orgID string) (Connection, error)
	// HoldConnection is Connection for a change of it: nobody else holds it before the
	// transaction of ctx ends, also while there is none.
	HoldConnection(ctx context.Context, orgID string) (Connection, error)
	// ConnectionByIngestPath finds across organizations: the path is how an event
	// says whose it is.
	ConnectionByIngestPath(ctx context.Context, path string) (Connection, error)
	// SaveConnection stores the organization's only connection, or replaces it.
	SaveConnection(ctx context.Context, c Connection) error
	DeleteConnection(ctx context.Context, orgID string) error
}
