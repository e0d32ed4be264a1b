package receiving

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store stores receiving domains and their addresses.
type Store struct{ db *engine.DB }

var _ receiving.Store = Store{}

// New returns the store of receiving domains on the database.
func New(db *engine.DB) Store { return Store{db} }

const domainColumns = `org_id, id, domain, status, last_error, region, cross_region, records, check_at, webhook_url, patterns, spam_posture, virus_posture,
	webhook_status, webhook_error, published_at, secret, secret_number, revision, publish_at, failing_since, created_at`

var (
	domainsOfOrg = engine.Register("receiving domains", `
		SELECT `+domainColumns+` FROM receiving_domains WHERE org_id = $1 AND deleted_at IS NULL ORDER BY created_at, id`)
	domainByReference = engine.RegisterPoint("receiving domain by reference", `
		SELECT `+domainColumns+` FROM receiving_domains WHERE org_id = $1 AND (id = $2 OR domain = $3) AND deleted_at IS NULL`)
	// lockDomain locks the domain on PostgreSQL. SQLite needs no lock, because it has one writer
	// at a time.
	lockDomain = engine.Register("lock receiving domain", `
		SELECT `+domainColumns+` FROM receiving_domains WHERE org_id = $1 AND (id = $2 OR domain = $3) AND deleted_at IS NULL /*pg FOR UPDATE*/`)
	insertDomain = engine.Register("insert receiving domain", `
		INSERT INTO receiving_domains (org_id, id, domain, status, last_error, region, cross_region, records, check_at, webhook_url, patterns,
			spam_posture, virus_posture, webhook_status, webhook_error, secret_number, revision, slow, served_at, leased_until, lease, created_at)
		VALUES ($1, $2, $3, $4, '', $5, $6, $7, $8, '', '[]', '', '', 'unset', '', 0, 0, FALSE, 0, 0, 0, $9) ON CONFLICT DO NOTHING`)
	updateDomain = engine.Register("update receiving domain", `
		UPDATE receiving_domains SET webhook_url = $1, patterns = $2, spam_posture = $3, virus_posture = $4, webhook_status = $5, webhook_error = $6,
			published_at = $7, secret = $8, secret_number = $9, revision = $10, publish_at = $11, failing_since = $12
		WHERE org_id = $13 AND id = $14 AND deleted_at IS NULL`)
	saveCheck = engine.Register("save check of receiving domain", `
		UPDATE receiving_domains SET status = $1, last_error = $2, records = $3, check_at = $4, revision = revision + $5, publish_at = COALESCE($6, publish_at)
		WHERE org_id = $7 AND id = $8 AND deleted_at IS NULL AND status <> 'verified'`)
	deleteDomain = engine.Register("delete receiving domain", `
		UPDATE receiving_domains SET deleted_at = $1, webhook_url = '', patterns = '[]', webhook_status = 'unset', webhook_error = '', secret = NULL,
			check_at = NULL, revision = revision + 1, publish_at = $2
		WHERE org_id = $3 AND id = $4 AND deleted_at IS NULL`)
	deleteAddresses = engine.Register("delete addresses of receiving domain", `
		DELETE FROM receiving_addresses WHERE org_id = $1 AND domain_id = $2`)
	// expireContents leaves the content of messages that another domain received too.
	expireContents = engine.Register("expire contents of receiving domain", `
		UPDATE receiving_contents SET expires_at = $1
		WHERE org_id = $2 AND message_id IN (SELECT m.message_id FROM receiving_messages AS m WHERE m.org_id = $2 AND m.domain_id = $3)
			AND NOT EXISTS (SELECT 1 FROM receiving_messages AS o
				WHERE o.org_id = receiving_contents.org_id AND o.message_id = receiving_contents.message_id AND o.domain_id <> $3)`)
	domainsToCheck = engine.Register("receiving domains to check", `
		SELECT `+domainColumns+` FROM receiving_domains WHERE check_at <= $1 AND `+engine.NotDeleted("org_id")+` ORDER BY check_at, id LIMIT $2`)
)

// domainRow is a row of receiving_domains.
type domainRow struct {
	OrgID         string                  `db:"org_id"`
	ID            string                  `db:"id"`
	Domain        string                  `db:"domain"`
	Status        receiving.Status        `db:"status"`
	LastError     string                  `db:"last_error"`
	Region        string                  `db:"region"`
	CrossRegion   bool                    `db:"cross_region"`
	Records       string                  `db:"records"`
	CheckAt       *engine.Time            `db:"check_at"`
	URL           string                  `db:"webhook_url"`
	Patterns      string                  `db:"patterns"`
	Spam          receiving.Posture       `db:"spam_posture"`
	Virus         receiving.Posture       `db:"virus_posture"`
	WebhookStatus receiving.WebhookStatus `db:"webhook_status"`
	WebhookError  string                  `db:"webhook_error"`
	PublishedAt   *engine.Time            `db:"published_at"`
	Secret        []byte                  `db:"secret"`
	SecretNumber  int                     `db:"secret_number"`
	Revision      int                     `db:"revision"`
	PublishAt     *engine.Time            `db:"publish_at"`
	FailingSince  *engine.Time            `db:"failing_since"`
	CreatedAt     engine.Time             `db:"created_at"`
}

func (r domainRow) domain() (receiving.Domain, error) {
	d := receiving.Domain{
		ID: r.ID, Domain: r.Domain, Status: r.Status, LastError: optional(r.LastError), Region: optional(r.Region), CrossRegion: r.CrossRegion,
		CreatedAt: r.CreatedAt.Time(), CheckAt: engine.OptionalTime(r.CheckAt), Secret: r.Secret, SecretNumber: r.SecretNumber,
		Revision: r.Revision, PublishAt: engine.OptionalTime(r.PublishAt), FailingSince: engine.OptionalTime(r.FailingSince),
	}
	if err := json.Unmarshal([]byte(r.Records), &d.Records); err != nil {
		return d, fmt.Errorf("storage: records of receiving domain: %w", err)
	}
	if r.URL == "" {
		return d, nil
	}
	patterns, err := engine.DecodeTexts(r.Patterns)
	d.Webhook = &receiving.Webhook{
		URL: r.URL, AllowPatterns: patterns, SpamPosture: r.Spam, VirusPosture: r.Virus, Status: r.WebhookStatus,
		PublishedAt: engine.OptionalTime(r.PublishedAt), Error: optional(r.WebhookError),
	}
	return d, err
}

func (r domainRow) ofOrg() (receiving.OrgDomain, error) {
	d, err := r.domain()
	return receiving.OrgDomain{OrgID: r.OrgID, Domain: d}, err
}

// optional returns nil for "".
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// textOf returns "" for nil.
func textOf(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}

func (s Store) Domains(ctx context.Context, orgID string) ([]receiving.Domain, error) {
	return engine.ListParsed(ctx, s.db, domainRow.domain, domainsOfOrg, orgID)
}

func (s Store) Domain(ctx context.Context, orgID, reference string) (receiving.Domain, error) {
	row, err := engine.One[domainRow](ctx, s.db, "receiving domain", s.db.LockedInside(ctx, domainByReference, lockDomain), orgID, reference, reference)
	if err != nil {
		return receiving.Domain{}, err
	}
	return row.domain()
}

func (s Store) InsertDomain(ctx context.Context, orgID string, d receiving.Domain) error {
	records, err := engine.JSONParameter(d.Records)
	if err != nil {
		return err
	}
	taken := core.Conflict("The receiving domain "+core.Quote(d.Domain)+" is recorded already.", "Read it with inbound_domains_get. If the organization does not have it, another organization does.")
	return s.db.Insert(ctx, taken, insertDomain, orgID, d.ID, d.Domain, string(d.Status), textOf(d.Region), d.CrossRegion, records,
		engine.OptionalAt(d.CheckAt), engine.At(d.CreatedAt))
}

func (s Store) UpdateDomain(ctx context.Context, orgID string, d receiving.Domain) error {
	hook := receiving.Webhook{Status: receiving.Unset}
	if d.Webhook != nil {
		hook = *d.Webhook
	}
	patterns, err := engine.EncodeTexts(hook.AllowPatterns)
	if err != nil {
		return err
	}
	return s.db.Change(ctx, "receiving domain", updateDomain, hook.URL, patterns, string(hook.SpamPosture), string(hook.VirusPosture),
		string(hook.Status), textOf(hook.Error), engine.OptionalAt(hook.PublishedAt), d.Secret, d.SecretNumber, d.Revision,
		engine.OptionalAt(d.PublishAt), engine.OptionalAt(d.FailingSince), orgID, d.ID)
}

func (s Store) SaveCheck(ctx context.Context, orgID string, d receiving.Domain) error {
	records, err := engine.JSONParameter(d.Records)
	if err != nil {
		return err
	}
	changed := 0
	if d.Status == receiving.Verified {
		changed = 1
	}
	_, err = s.db.Exec(ctx, saveCheck, string(d.Status), textOf(d.LastError), records, engine.OptionalAt(d.CheckAt), changed, engine.OptionalAt(d.PublishAt), orgID, d.ID)
	return err
}

func (s Store) DeleteDomain(ctx context.Context, orgID, id string, now time.Time) error {
	return s.db.InTx(ctx, func(ctx context.Context) error {
		at := engine.At(now)
		if err := s.db.Change(ctx, "receiving domain", deleteDomain, at, at, orgID, id); err != nil {
			return err
		}
		if _, err := s.db.Exec(ctx, deleteAddresses, orgID, id); err != nil {
			return err
		}
		_, err := s.db.Exec(ctx, expireContents, at, orgID, id)
		return err
	})
}

func (s Store) DomainsToCheck(ctx context.Context, now time.Time, limit int) ([]receiving.OrgDomain, error) {
	return engine.ListParsed(ctx, s.db, domainRow.ofOrg, domainsToCheck, engine.At(now), limit)
}
