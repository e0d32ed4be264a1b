package sending

import (
	"context"
	"time"
)

// Provider is the kind of an organization's sending account, such as Amazon SES.
type Provider string

// The providers.
const (
	Simulated Provider = "simulator"
	SES       Provider = "ses"
	SMTP      Provider = "smtp"
)

// Connection describes how Mailhelm reaches an organization's sending account. Secret is in
// plain text here and encrypted in the database. Secret is never logged or shown.
type Connection struct {
	OrgID    string
	Provider Provider
	// AccountID is the provider's id of the account; "" if it is unknown.
	AccountID string
	Region    string
	// Endpoint is a URL that replaces the provider's default endpoint; "" means the default.
	// For an SMTP server it is host:port.
	Endpoint string
	// AccessKeyID and Secret are credentials at the provider, or the user name and password
	// at an SMTP server. RoleARN and ExternalID name a role to assume. The role may be used
	// with or without an access key.
	AccessKeyID string
	Secret      string
	RoleARN     string
	ExternalID  string
	// TopicARN is the only SNS topic from which the organization's events are accepted.
	TopicARN string
	// Identities are the addresses and domains that an SMTP account may send from. A domain
	// includes its subdomains. If the list is empty, only the SMTP server checks senders.
	Identities []string
	// Max24HourSend is the maximum number of recipients of an SMTP account in 24 hours.
	// MaxSendRate is the maximum number of messages in a second. Zero means no limit.
	Max24HourSend, MaxSendRate int64
	// MayReachPrivate allows Endpoint to be in a private network. Only the operator of the
	// installation may set it, because customers must not reach private networks.
	MayReachPrivate bool
	// TemplateVersion is the version of the infrastructure template that the customer
	// applied; 0 if none is recorded.
	TemplateVersion int
	// IngestPath is the random part of the URL to which the organization's events are sent.
	// It identifies the organization but does not authenticate the sender of an event.
	IngestPath string
	// IngestKeyHash is the SHA-256 hash of the key that authenticates unsigned events; nil
	// without a key.
	IngestKeyHash []byte

	CreatedAt, UpdatedAt time.Time
}

// LatestTemplateVersion is the version of the newest infrastructure template
// (CloudFormation).
const LatestTemplateVersion = 13

// Connections stores the settings and credentials with which Mailhelm reaches the
// organizations' sending accounts. Methods that read a connection fail with
// core.CodeNotFound if the connection does not exist.
type Connections interface {
	Connection(ctx context.Context, orgID string) (Connection, error)
	// HoldConnection reads the organization's connection, so that the caller can change it.
	// It locks the connections of the organization until the transaction of ctx ends. It
	// takes this lock also if the organization has no connection.
	HoldConnection(ctx context.Context, orgID string) (Connection, error)
	// ConnectionByIngestPath returns the connection with this ingest path. It searches all
	// organizations, because only the path identifies the organization of an event.
	ConnectionByIngestPath(ctx context.Context, path string) (Connection, error)
	// SaveConnection stores the connection of an organization and replaces an earlier one.
	// An organization has at most one.
	SaveConnection(ctx context.Context, c Connection) error
	DeleteConnection(ctx context.Context, orgID string) error
}
