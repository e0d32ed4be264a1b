package sending

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Connecting creates, changes and deletes the stored connections to sending accounts. Each
// method is one transaction, which also writes the audit log. Callers must check the
// permission first. No method calls the account; [Examine] does.
type Connecting struct {
	Connections Connections
	Transactor  core.Transactor
	Clock       core.Clock
	// Record adds an entry to the organization's audit log.
	Record func(ctx context.Context, orgID, action string, detail map[string]any) error
	// KeepList creates the organization's contact list if it has none: for a simulated account in
	// the embedded simulator, for an SMTP server in the database. Connect calls KeepList before it
	// stores the connection of such an account. If KeepList is nil, Connect skips this step.
	KeepList func(ctx context.Context, orgID string, provider Provider) error
	// Follow enqueues the jobs that copy the account's data, such as topics and templates,
	// to Mailhelm's database. It takes part in the transaction that stores the connection.
	// If it is nil, the jobs copy the data at their next periodic run.
	Follow func(ctx context.Context, orgID string) error
	// Forget makes this process use the changed connection at once; see [Accounts.Forget].
	// It may be nil in a process that does not call accounts.
	Forget func(orgID string)
}

// NewConnection is an administrator's input for a connection. For the meaning of its
// fields, see [Connection].
type NewConnection struct {
	OrgID                       string
	Provider                    Provider
	AccountID, Region, Endpoint string
	// Secret may be "" to keep the stored secret. This is possible if provider, endpoint and
	// access key id are unchanged.
	AccessKeyID, Secret string
	RoleARN, TopicARN   string

	Identities                 []string
	Max24HourSend, MaxSendRate int64
	// MayReachPrivate allows an SMTP endpoint in a private network. Only the operator may
	// set it. It stays set until the endpoint changes.
	MayReachPrivate bool
}

// The number of random bytes in the ingest path (a part of the URL that receives events),
// the ingest key and the external id. They are encoded in base32.
const (
	ingestPathBytes = 20
	ingestKeyBytes  = 32
	externalIDBytes = 20
)

var spelling = base32.StdEncoding.WithPadding(base32.NoPadding)

func random(n int) string {
	raw := make([]byte, n)
	rand.Read(raw) // never returns an error
	return spelling.EncodeToString(raw)
}

// simulatedTopic is the prefix of the notification topic ARNs of simulated accounts. The
// organization's ingest path completes it, so that each account has its own topic.
const simulatedTopic = "arn:aws:sns:us-east-1:000000000000:mailhelm-"

// Connect stores the organization's connection and replaces an earlier one. It keeps the
// ingest path, the ingest key, the external id and the recorded version of the
// infrastructure template. It fails with core.CodeValidationFailed for invalid input.
func (c Connecting) Connect(ctx context.Context, n NewConnection) (Connection, error) {
	if err := n.check(); err != nil {
		return Connection{}, err
	}
	if n.Provider != SES && c.KeepList != nil {
		if err := c.KeepList(ctx, n.OrgID, n.Provider); err != nil {
			return Connection{}, fmt.Errorf("contact list of the account: %w", err)
		}
	}
	return c.change(ctx, n.OrgID, "account.connected", c.Follow, func(before Connection, known bool) (Connection, map[string]any, error) {
		after := Connection{
			OrgID: n.OrgID, Provider: n.Provider, AccountID: n.AccountID, Region: n.Region, Endpoint: n.Endpoint,
			AccessKeyID: n.AccessKeyID, Secret: n.Secret, RoleARN: n.RoleARN, TopicARN: n.TopicARN,
			Identities: n.Identities, Max24HourSend: n.Max24HourSend, MaxSendRate: n.MaxSendRate,
			MayReachPrivate: n.Provider == SMTP && (n.MayReachPrivate || before.MayReachPrivate && before.Endpoint == n.Endpoint),
			ExternalID:      before.ExternalID, TemplateVersion: before.TemplateVersion,
			IngestPath: before.IngestPath, IngestKeyHash: before.IngestKeyHash,
		}
		if after.Secret == "" && known && before.KeepsSecret(n) {
			after.Secret = before.Secret
		}
		if err := after.checkSecret(); err != nil {
			return Connection{}, nil, err
		}
		if after.ExternalID == "" {
			after.ExternalID = "mailhelm-" + strings.ToLower(random(externalIDBytes))
		}
		if after.IngestPath == "" {
			after.IngestPath = strings.ToLower(random(ingestPathBytes))
		}
		if after.Provider == Simulated {
			after.TopicARN = simulatedTopic + after.IngestPath
		}
		return after, map[string]any{
			"provider": after.Provider, "region": after.Region, "endpoint": after.Endpoint, "access_key_id": after.AccessKeyID,
			"role_arn": after.RoleARN, "topic_arn": after.TopicARN, "identities": after.Identities,
			"max_24_hour_send": after.Max24HourSend, "max_send_rate": after.MaxSendRate, "secret_changed": after.Secret != before.Secret,
		}, nil
	})
}

// KeepsSecret reports whether [Connecting.Connect] keeps the secret of the stored connection
// c if next has an empty one. It does if next has the provider, endpoint and access key id
// of c.
func (c Connection) KeepsSecret(next NewConnection) bool {
	return c.Secret != "" && c.Provider == next.Provider && c.Endpoint == next.Endpoint && c.AccessKeyID == next.AccessKeyID
}

func (c Connection) checkSecret() error {
	if c.Provider != Simulated && c.AccessKeyID != "" && c.Secret == "" {
		return core.Invalid("secret", "is missing; an access key id needs a secret")
	}
	return nil
}

// NewIngestKey creates a key that authenticates unsigned events, replaces the
// organization's earlier key, and returns the new one. Only its hash is stored, so the key
// cannot be shown again. It fails with core.CodeNotFound if the organization has no
// connection.
func (c Connecting) NewIngestKey(ctx context.Context, orgID string) (Connection, string, error) {
	key := random(ingestKeyBytes)
	hash := sha256.Sum256([]byte(key))
	after, err := c.edit(ctx, orgID, "account.ingest_key_created", nil, func(to *Connection) { to.IngestKeyHash = hash[:] })
	if err != nil {
		return Connection{}, "", err
	}
	return after, key, nil
}

// SetTemplateVersion records which version of the infrastructure template the customer
// applied. It fails with core.CodeValidationFailed for an unknown version.
func (c Connecting) SetTemplateVersion(ctx context.Context, orgID string, version int) (Connection, error) {
	if version < 1 || version > LatestTemplateVersion {
		return Connection{}, core.Invalid("template_version", "is not a known version")
	}
	return c.edit(ctx, orgID, "account.template_version_set", map[string]any{"template_version": version},
		func(to *Connection) { to.TemplateVersion = version })
}

// SetAccountID stores the provider's id of the organization's account.
func (c Connecting) SetAccountID(ctx context.Context, orgID, accountID string) (Connection, error) {
	return c.edit(ctx, orgID, "account.identified", map[string]any{"account_id": accountID},
		func(to *Connection) { to.AccountID = accountID })
}

// Disconnect deletes the organization's connection with its secret and its ingest path. It
// does not change the account at the provider. It fails with core.CodeNotFound if the
// organization has no connection.
func (c Connecting) Disconnect(ctx context.Context, orgID string) error {
	err := c.Transactor.InTx(ctx, func(ctx context.Context) error {
		if err := c.Connections.DeleteConnection(ctx, orgID); err != nil {
			return explain(err)
		}
		return c.Record(ctx, orgID, "account.disconnected", map[string]any{})
	})
	c.forget(orgID, err)
	return err
}

// edit applies the function change to the organization's stored connection and writes the
// audit log. It fails with core.CodeNotFound if the organization has no connection.
func (c Connecting) edit(ctx context.Context, orgID, action string, detail map[string]any, change func(*Connection)) (Connection, error) {
	return c.change(ctx, orgID, action, nil, func(before Connection, known bool) (Connection, map[string]any, error) {
		if !known {
			return Connection{}, nil, explain(core.NotFound("connection"))
		}
		change(&before)
		return before, detail, nil
	})
}

// change stores the connection that next returns and writes the audit log. The new
// UpdatedAt is always later than the stored one, even if the clock was set back, because
// other processes compare UpdatedAt to detect the change.
func (c Connecting) change(
	ctx context.Context, orgID, action string, follow func(context.Context, string) error,
	next func(before Connection, known bool) (Connection, map[string]any, error),
) (Connection, error) {
	var after Connection
	err := c.Transactor.InTx(ctx, func(ctx context.Context) error {
		before, err := c.Connections.HoldConnection(ctx, orgID)
		known := err == nil
		if err != nil && !isNotFound(err) {
			return err
		}
		var detail map[string]any
		if after, detail, err = next(before, known); err != nil {
			return err
		}
		after.UpdatedAt = c.Clock().UTC().Truncate(time.Microsecond)
		if !after.UpdatedAt.After(before.UpdatedAt) {
			after.UpdatedAt = before.UpdatedAt.Add(time.Microsecond)
		}
		after.CreatedAt = before.CreatedAt
		if !known {
			after.CreatedAt = after.UpdatedAt
		}
		if err := c.Connections.SaveConnection(ctx, after); err != nil {
			return err
		}
		if follow != nil {
			if err := follow(ctx, orgID); err != nil {
				return err
			}
		}
		return c.Record(ctx, orgID, action, detail)
	})
	if err != nil {
		return Connection{}, err
	}
	c.forget(orgID, nil)
	return after, nil
}

func (c Connecting) forget(orgID string, err error) {
	if err == nil && c.Forget != nil {
		c.Forget(orgID)
	}
}

func isNotFound(err error) bool {
	refusal, ok := errors.AsType[*core.Error](err)
	return ok && refusal.Code == core.CodeNotFound
}

// explain sets the message of a core.CodeNotFound error to "No sending account is
// connected". It returns other errors unchanged.
func explain(err error) error {
	if refusal, ok := errors.AsType[*core.Error](err); ok && refusal.Code == core.CodeNotFound {
		refusal.Message = "No sending account is connected to this organization."
		refusal.Next = cmp.Or(refusal.Next, "Connect one first.")
	}
	return err
}
