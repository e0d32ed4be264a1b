package sending

import (
	"context"
	"time"
)

// Provider is the kind of an organization's sending account.
type Provider string

// The providers.
const (
	Simulated Provider = "simulator"
	SES       Provider = "ses"
	SMTP      Provider = "smtp"
)

// Connection describes how Mailhelm reaches an organization's sending account. Secret
// is in plain text here and encrypted in the database. It is never logged or shown.
type Connection struct {
	OrgID    string
	Provider Provider
	// AccountID is the provider's id of the account; "" while it is unknown.
	AccountID string
	Region    string
	// Endpoint replaces the provider's default endpoint; "" means the default. For SMTP
	// it is host:port.
	Endpoint string
	// AccessKeyID and Secret are the credentials of the provider, or the user name and
	// password of an SMTP server. RoleARN and ExternalID name a role to assume, with
	// these credentials or without them.
	AccessKeyID string
	Secret      string
	RoleARN     string
	ExternalID  string
	// TopicARN is the only notification topic whose events are accepted.
	TopicARN string
	// Identities are the addresses and domains that an SMTP account sends from. A
	// domain includes its subdomains. When empty, only the server checks senders.
	Identities []string
	// Max24HourSend is the most recipients of an SMTP account in 24 hours. MaxSendRate
	// is the most messages in a second. Zero means no limit.
	Max24HourSend, MaxSendRate int64
	// MayReachPrivate allows Endpoint to be in a network that is not public. Only the
	// operator of the installation can set it; customers must not reach such networks.
	MayReachPrivate bool
	// TemplateVersion is the version of the infrastructure template that the
	// customer applied; 0 while none is recorded.
	TemplateVersion int
	// IngestPath is the organization's part of the URL that events are sent to. It
	// identifies the organization but does not authenticate the sender.
	IngestPath string
	// IngestKeyHash is the SHA-256 of the key that authenticates unsigned events; nil
	// without a key.
	IngestKeyHash []byte

	CreatedAt, UpdatedAt time.Time
}

// LatestTemplateVersion is the version of the newest infrastructure template.
const LatestTemplateVersion = 13

// Connections stores the connections. Methods that find one fail with core.CodeNotFound
// when there is none.
type Connections interface {
	Connection(ctx context.Context, orgID string) (Connection, error)
	// HoldConnection is Connection for a change: it locks the organization's connection
	// until the transaction of ctx ends. The lock is also taken when no connection
	// exists.
	HoldConnection(ctx context.Context, orgID string) (Connection, error)
	// ConnectionByIngestPath searches all organizations, because an event names its
	// organization only by this path.
	ConnectionByIngestPath(ctx context.Context, path string) (Connection, error)
	// SaveConnection stores the organization's only connection and replaces an earlier
	// one.
	SaveConnection(ctx context.Context, c Connection) error
	DeleteConnection(ctx context.Context, orgID string) error
}
