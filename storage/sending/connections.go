package sending

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// ConnectionStore stores connections to sending accounts. It encrypts the secret of a
// connection, so that it can be decrypted only for the connection's organization.
type ConnectionStore struct {
	db     *engine.DB
	sealer sending.Sealer
}

var _ sending.Connections = ConnectionStore{}

// NewConnectionStore returns the store of connections on the database. sealer encrypts and
// decrypts the secrets.
func NewConnectionStore(db *engine.DB, sealer sending.Sealer) ConnectionStore {
	return ConnectionStore{db, sealer}
}

// connectionRow is the connection of an organization to its sending account. Secret is
// encrypted, and empty for a connection without a secret. IngestKeyHash is the hash of the
// key that a provider must present when it posts events.
type connectionRow struct {
	OrgID           string      `db:"org_id"`
	Provider        string      `db:"provider"`
	AccountID       string      `db:"account_id"`
	Region          string      `db:"region"`
	Endpoint        string      `db:"endpoint"`
	AccessKeyID     string      `db:"access_key_id"`
	Secret          []byte      `db:"secret"`
	RoleARN         string      `db:"role_arn"`
	ExternalID      string      `db:"external_id"`
	TopicARN        string      `db:"topic_arn"`
	Identities      string      `db:"identities"` // a JSON array
	Max24HourSend   int64       `db:"max_24_hour_send"`
	MaxSendRate     int64       `db:"max_send_rate"`
	MayReachPrivate bool        `db:"may_reach_private"`
	TemplateVersion int         `db:"template_version"`
	IngestPath      string      `db:"ingest_path"`
	IngestKeyHash   []byte      `db:"ingest_key_hash"`
	CreatedAt       engine.Time `db:"created_at"`
	UpdatedAt       engine.Time `db:"updated_at"`
}

// connectionColumns lists the columns of the table connections, in the order of the
// parameters of saveConnection.
const connectionColumns = `org_id, provider, account_id, region, endpoint, access_key_id, secret, role_arn, external_id,
	topic_arn, identities, max_24_hour_send, max_send_rate, may_reach_private, template_version, ingest_path, ingest_key_hash,
	created_at, updated_at`

var (
	// connectionOf selects an organization's connection by primary key. An organization has
	// at most one.
	connectionOf = engine.RegisterPoint("connection", `
		SELECT `+connectionColumns+` FROM connections WHERE org_id = $1`)
	// connectionByIngestPath selects a connection by the path at which the provider posts
	// events. The path is unique over all organizations, because it alone determines the
	// organization to which the posted events belong.
	connectionByIngestPath = engine.RegisterPoint("connection by ingest path", `
		SELECT `+connectionColumns+` FROM connections WHERE ingest_path = $1`)
	saveConnection = engine.Register("save connection", `
		INSERT INTO connections (`+connectionColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
		ON CONFLICT (org_id) DO UPDATE SET
			provider = excluded.provider, account_id = excluded.account_id, region = excluded.region,
			endpoint = excluded.endpoint, access_key_id = excluded.access_key_id, secret = excluded.secret,
			role_arn = excluded.role_arn, external_id = excluded.external_id, topic_arn = excluded.topic_arn,
			identities = excluded.identities, max_24_hour_send = excluded.max_24_hour_send,
			max_send_rate = excluded.max_send_rate, may_reach_private = excluded.may_reach_private,
			template_version = excluded.template_version, ingest_path = excluded.ingest_path,
			ingest_key_hash = excluded.ingest_key_hash, updated_at = excluded.updated_at`)
	// holdConnection locks the organization's row, because the row of its connection may not
	// exist yet. SQLite needs no lock, because it has one writer at a time.
	holdConnection   = engine.Register("hold connection", `SELECT id FROM orgs WHERE id = $1 /*pg FOR NO KEY UPDATE*/`)
	deleteConnection = engine.Register("delete connection", `DELETE FROM connections WHERE org_id = $1`)
)

// connectionSecret names the purpose for which the secrets are encrypted. A secret can be
// decrypted only with the same purpose.
const connectionSecret = "sending account secret"

func (s ConnectionStore) Connection(ctx context.Context, orgID string) (sending.Connection, error) {
	return s.find(ctx, connectionOf, orgID)
}

// HoldConnection returns the organization's connection and locks it until the transaction
// ends, so that concurrent changes run one after the other. Without a connection it fails
// with NotFound, but still holds the lock.
func (s ConnectionStore) HoldConnection(ctx context.Context, orgID string) (sending.Connection, error) {
	if _, err := s.db.Exec(ctx, holdConnection, orgID); err != nil {
		return sending.Connection{}, err
	}
	return s.Connection(ctx, orgID)
}

// ConnectionByIngestPath returns the connection with the path at which the provider posts
// events. It fails with NotFound for an unknown path, and for invalid text, on which
// PostgreSQL would fail.
func (s ConnectionStore) ConnectionByIngestPath(ctx context.Context, path string) (sending.Connection, error) {
	if !utf8.ValidString(path) || strings.ContainsRune(path, 0) {
		return sending.Connection{}, core.NotFound("connection")
	}
	return s.find(ctx, connectionByIngestPath, path)
}

// find returns the connection that the statement selects, with its secret decrypted. It
// returns an error if the secret was encrypted for another organization.
func (s ConnectionStore) find(ctx context.Context, by *engine.Statement, name string) (sending.Connection, error) {
	row, err := engine.One[connectionRow](ctx, s.db, "connection", by, name)
	if err != nil {
		return sending.Connection{}, err
	}
	c := sending.Connection{
		OrgID: row.OrgID, Provider: sending.Provider(row.Provider), AccountID: row.AccountID, Region: row.Region,
		Endpoint: row.Endpoint, AccessKeyID: row.AccessKeyID, RoleARN: row.RoleARN, ExternalID: row.ExternalID,
		TopicARN: row.TopicARN, Max24HourSend: row.Max24HourSend, MaxSendRate: row.MaxSendRate, MayReachPrivate: row.MayReachPrivate,
		TemplateVersion: row.TemplateVersion, IngestPath: row.IngestPath,
		IngestKeyHash: row.IngestKeyHash, CreatedAt: row.CreatedAt.Time(), UpdatedAt: row.UpdatedAt.Time(),
	}
	identities, err := engine.DecodeTexts(row.Identities)
	if err != nil {
		return sending.Connection{}, err
	}
	if len(identities) > 0 {
		c.Identities = identities
	}
	if len(row.Secret) == 0 {
		return c, nil
	}
	secret, err := s.sealer.Open(connectionSecret, row.OrgID, row.Secret)
	if err != nil {
		return sending.Connection{}, fmt.Errorf("secret of the sending account: %w", err)
	}
	c.Secret = string(secret)
	return c, nil
}

// SaveConnection inserts or replaces the organization's connection. A replaced connection
// keeps its time of creation.
func (s ConnectionStore) SaveConnection(ctx context.Context, c sending.Connection) error {
	var sealed []byte
	if c.Secret != "" {
		var err error
		if sealed, err = s.sealer.Seal(connectionSecret, c.OrgID, []byte(c.Secret)); err != nil {
			return fmt.Errorf("secret of the sending account: %w", err)
		}
	}
	identities, err := json.Marshal(append([]string{}, c.Identities...))
	if err != nil {
		return fmt.Errorf("identities of the sending account: %w", err)
	}
	_, err = s.db.Exec(ctx, saveConnection, c.OrgID, string(c.Provider), c.AccountID, c.Region, c.Endpoint,
		c.AccessKeyID, sealed, c.RoleARN, c.ExternalID, c.TopicARN, string(identities), c.Max24HourSend, c.MaxSendRate, c.MayReachPrivate,
		c.TemplateVersion, c.IngestPath, c.IngestKeyHash,
		engine.At(c.CreatedAt), engine.At(c.UpdatedAt))
	return engine.Announced(ctx, s.db, c.OrgID, err)
}

func (s ConnectionStore) DeleteConnection(ctx context.Context, orgID string) error {
	return engine.Announced(ctx, s.db, orgID, s.db.Change(ctx, "connection", deleteConnection, orgID))
}
