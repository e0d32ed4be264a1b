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

// Connecting is what an organization's administrator decides about how its
// account is reached. Each task is one transaction together with its line in the
// audit log. It does not ask whether the caller may do it, and asks the account
// nothing: [Examine] does.
type Connecting struct {
	Connections Connections
	Transactor  core.Transactor
	Clock       core.Clock
	// Record writes a line into the organization's audit log.
	Record func(ctx context.Context, orgID, action string, detail map[string]any) error
	// KeepList makes sure that the organization has a contact list in the embedded
	// account, which a simulated account is and an SMTP server needs beside it. It is
	// called before such a connection is stored. nil keeps none.
	KeepList func(ctx context.Context, orgID string) error
	// Follow makes whoever mirrors the account look at it soon. It takes part in the
	// transaction that connects it. nil leaves them to their own time.
	Follow func(ctx context.Context, orgID string) error
	// Forget makes this process feel the change at once: [Accounts.Forget]. nil in
	// a process that asks no account.
	Forget func(orgID string)
}

// NewConnection is a connection as an administrator describes it; the fields are
// those of [Connection].
type NewConnection struct {
	OrgID                       string
	Provider                    Provider
	AccountID, Region, Endpoint string
	// Secret may be "" to keep the one there is, when nothing changes about where
	// it is used.
	AccessKeyID, Secret string
	RoleARN, TopicARN   string

	Identities                 []string
	Max24HourSend, MaxSendRate int64
	// MayReachPrivate is for the operator alone. An endpoint keeps what it was
	// given until it is another.
	MayReachPrivate bool
}

// The random parts, in bytes, and their spelling: letters and digits alone.
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

// simulatedTopic begins the names of the topics of simulated accounts. Each has one
// of its own, so that events find the way back to their organization alone.
const simulatedTopic = "arn:aws:sns:us-east-1:000000000000:mailhelm-"

// Connect stores how the organization's account is reached, in place of what was
// there. The address for events, its key, the external id and the recorded
// template version stay as they were. It fails with core.CodeValidationFailed.
func (c Connecting) Connect(ctx context.Context, n NewConnection) (Connection, error) {
	if err := n.check(); err != nil {
		return Connection{}, err
	}
	if n.Provider != SES && c.KeepList != nil {
		if err := c.KeepList(ctx, n.OrgID); err != nil {
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
		if after.Secret == "" && known && before.usesSecretLike(after) {
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

// usesSecretLike: the secret would be shown to the same server under the same name.
func (c Connection) usesSecretLike(next Connection) bool {
	return c.Provider == next.Provider && c.Endpoint == next.Endpoint && c.AccessKeyID == next.AccessKeyID
}

func (c Connection) checkSecret() error {
	if c.Provider != Simulated && c.AccessKeyID != "" && c.Secret == "" {
		return core.Invalid("secret", "is missing: it belongs to the access key id")
	}
	return nil
}

// NewIngestKey gives the connection a key for events that come without a
// signature, in place of the one it had, and returns it. It exists nowhere else.
func (c Connecting) NewIngestKey(ctx context.Context, orgID string) (Connection, string, error) {
	key := random(ingestKeyBytes)
	hash := sha256.Sum256([]byte(key))
	after, err := c.edit(ctx, orgID, "account.ingest_key_created", nil, func(to *Connection) { to.IngestKeyHash = hash[:] })
	if err != nil {
		return Connection{}, "", err
	}
	return after, key, nil
}

// SetTemplateVersion records which infrastructure template the customer applied.
func (c Connecting) SetTemplateVersion(ctx context.Context, orgID string, version int) (Connection, error) {
	if version < 1 || version > LatestTemplateVersion {
		return Connection{}, core.Invalid("template_version", "is none of the versions there are")
	}
	return c.edit(ctx, orgID, "account.template_version_set", map[string]any{"template_version": version},
		func(to *Connection) { to.TemplateVersion = version })
}

// SetAccountID keeps the account's id once it is known.
func (c Connecting) SetAccountID(ctx context.Context, orgID, accountID string) (Connection, error) {
	return c.edit(ctx, orgID, "account.identified", map[string]any{"account_id": accountID},
		func(to *Connection) { to.AccountID = accountID })
}

// Disconnect forgets how the account is reached, with its secret, and the address
// for events. The account itself is the customer's and stays as it is.
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

// edit changes a connection that there is.
func (c Connecting) edit(ctx context.Context, orgID, action string, detail map[string]any, change func(*Connection)) (Connection, error) {
	return c.change(ctx, orgID, action, nil, func(before Connection, known bool) (Connection, map[string]any, error) {
		if !known {
			return Connection{}, nil, explain(core.NotFound("connection"))
		}
		change(&before)
		return before, detail, nil
	})
}

// change stores what next makes of the connection, later than what was there by
// any clock: that is how other processes notice.
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

// explain says what a missing connection means.
func explain(err error) error {
	if refusal, ok := errors.AsType[*core.Error](err); ok && refusal.Code == core.CodeNotFound {
		refusal.Message = "No sending account is connected to this organization."
		refusal.Next = cmp.Or(refusal.Next, "Connect one first.")
	}
	return err
}
