package inboxes

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store stores inboxes, pull links and messages.
type Store struct{ db *engine.DB }

var (
	_ inboxes.Store        = Store{}
	_ inboxes.MessageStore = Store{}
	_ inboxes.TokenStore   = Store{}
	_ inboxes.PurgeStore   = Store{}

	_ inboxes.DeliveryStore = Store{}
)

// New returns the store of inboxes on the database.
func New(db *engine.DB) Store { return Store{db} }

// inboxColumns are the columns of an inbox i with the pull link f that was made with it.
const inboxColumns = `i.org_id, i.id, i.local_part, i.owner, i.caller, i.account_ref, i.label, i.visibility, i.allowed_senders, i.restriction,
	i.message_count, i.dropped_count, i.created_at, i.expires_at, i.deleted_at,
	f.id AS first_id, f.prefix AS first_prefix, f.label AS first_label, f.created_at AS first_created, f.revoked_at AS first_revoked`

const fromInboxes = ` FROM inboxes AS i JOIN inbox_tokens AS f ON f.org_id = i.org_id AND f.inbox_id = i.id AND f.id = i.token_id `

var (
	addInboxOrg = engine.Register("add organization with inboxes", `
		INSERT INTO inbox_orgs (org_id, disabled) VALUES ($1, FALSE) ON CONFLICT DO NOTHING`)
	// holdMints locks the mints of an organization on PostgreSQL. SQLite has one writer at a
	// time.
	holdMints = engine.Register("hold mints of inboxes", `
		SELECT disabled FROM inbox_orgs WHERE org_id = $1 /*pg FOR UPDATE*/`)
	setDisabled = engine.Register("enable or disable inboxes", `
		INSERT INTO inbox_orgs (org_id, disabled) VALUES ($1, $2)
		ON CONFLICT (org_id) DO UPDATE SET disabled = excluded.disabled WHERE inbox_orgs.disabled <> excluded.disabled`)
	insertInbox = engine.Register("insert inbox", `
		INSERT INTO inboxes (org_id, id, local_part, owner, caller, account_ref, label, visibility, allowed_senders, restriction, token_id,
			message_count, dropped_count, created_at, expires_at, ends_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 0, 0, $12, $13, $14) ON CONFLICT DO NOTHING`)
	inboxByID = engine.RegisterPoint("inbox by id", `
		SELECT `+inboxColumns+fromInboxes+`WHERE i.org_id = $1 AND i.id = $2`)
	lockInbox = engine.Register("lock inbox", `
		SELECT `+inboxColumns+fromInboxes+`WHERE i.org_id = $1 AND i.id = $2 /*pg FOR UPDATE OF i*/`)
	newestInboxes = engine.Register("newest inboxes", `
		SELECT `+inboxColumns+fromInboxes+`
		WHERE i.org_id = $1 AND (i.owner = $2 OR (i.visibility = 'org' AND $3)) AND (CAST($4 AS bytetext) = '' OR i.account_ref = $4)
			AND (CAST($5 AS bytetext) = '' OR $5 = CASE WHEN i.deleted_at IS NOT NULL THEN 'deleted' WHEN i.expires_at <= $6 THEN 'expired' ELSE 'active' END)
		ORDER BY i.created_at DESC, i.id DESC LIMIT $7`)
	labelInbox = engine.Register("label inbox", `
		UPDATE inboxes SET label = $1, visibility = $2 WHERE org_id = $3 AND id = $4`)
	deleteInbox = engine.Register("delete inbox", `
		UPDATE inboxes SET deleted_at = $1, ends_at = $2 WHERE org_id = $3 AND id = $4 AND deleted_at IS NULL AND expires_at > $5`)
	nthMint = engine.Register("nth mint of inbox", `
		SELECT count(*) AS n, min(at) AS at FROM (
			SELECT created_at AS at FROM inboxes WHERE org_id = $1 AND restriction = '' AND created_at > $2 ORDER BY created_at DESC LIMIT $3) AS newest`)
	nthEnd = engine.Register("nth end of inbox", `
		SELECT count(*) AS n, min(at) AS at FROM (
			SELECT ends_at AS at FROM inboxes
			WHERE org_id = $1 AND ends_at > $2 AND (restriction = '' OR NOT $3) AND (CAST($4 AS bytetext) = '' OR caller = $4) AND (CAST($5 AS bytetext) = '' OR account_ref = $5)
			ORDER BY ends_at DESC LIMIT $6) AS last`)
	inboxByAddress = engine.RegisterPoint("inbox by address", `
		SELECT org_id, id FROM inboxes WHERE local_part = $1 AND `+engine.NotDeleted("org_id"))
)

// inboxRow is a row of inboxes with the pull link that was made with it.
type inboxRow struct {
	OrgID          string                    `db:"org_id"`
	ID             string                    `db:"id"`
	LocalPart      string                    `db:"local_part"`
	Owner          string                    `db:"owner"`
	Caller         string                    `db:"caller"`
	AccountRef     string                    `db:"account_ref"`
	Label          string                    `db:"label"`
	Visibility     inboxes.Visibility        `db:"visibility"`
	AllowedSenders string                    `db:"allowed_senders"`
	Restriction    inboxes.RestrictionSource `db:"restriction"`
	MessageCount   int                       `db:"message_count"`
	DroppedCount   int                       `db:"dropped_count"`
	StoredBytes    int64                     `db:"stored_bytes"`
	CreatedAt      engine.Time               `db:"created_at"`
	ExpiresAt      engine.Time               `db:"expires_at"`
	DeletedAt      *engine.Time              `db:"deleted_at"`
	FirstID        string                    `db:"first_id"`
	FirstPrefix    string                    `db:"first_prefix"`
	FirstLabel     string                    `db:"first_label"`
	FirstCreated   engine.Time               `db:"first_created"`
	FirstRevoked   *engine.Time              `db:"first_revoked"`
}

func (r inboxRow) inbox() (inboxes.Inbox, error) {
	allowed, err := engine.DecodeTexts(r.AllowedSenders)
	return inboxes.Inbox{
		ID: r.ID, OrgID: r.OrgID, LocalPart: r.LocalPart, Owner: r.Owner, Caller: r.Caller, AccountRef: r.AccountRef, Label: r.Label,
		Visibility: r.Visibility, AllowedSenders: allowed, Restriction: r.Restriction, MessageCount: r.MessageCount, DroppedCount: r.DroppedCount, StoredBytes: r.StoredBytes,
		CreatedAt: r.CreatedAt.Time(), ExpiresAt: r.ExpiresAt.Time(), DeletedAt: engine.OptionalTime(r.DeletedAt),
		First: inboxes.Token{
			ID: r.FirstID, InboxID: r.ID, Prefix: r.FirstPrefix, Label: r.FirstLabel, CreatedAt: r.FirstCreated.Time(), RevokedAt: engine.OptionalTime(r.FirstRevoked),
		},
	}, err
}

func (s Store) HoldMints(ctx context.Context, orgID string) (bool, error) {
	if _, err := s.db.Exec(ctx, addInboxOrg, orgID); err != nil {
		return false, err
	}
	disabled, err := engine.Values[bool](ctx, s.db, holdMints, orgID)
	return err == nil && len(disabled) == 1 && disabled[0], err
}

func (s Store) SetDisabled(ctx context.Context, orgID string, disabled bool) (bool, error) {
	if _, err := s.db.Exec(ctx, addInboxOrg, orgID); err != nil {
		return false, err
	}
	n, err := s.db.Exec(ctx, setDisabled, orgID, disabled)
	return n > 0, err
}

func (s Store) InsertInbox(ctx context.Context, i inboxes.Inbox) (bool, error) {
	allowed, err := engine.EncodeTexts(i.AllowedSenders)
	if err != nil {
		return false, err
	}
	n, err := s.db.Exec(ctx, insertInbox, i.OrgID, i.ID, i.LocalPart, i.Owner, i.Caller, i.AccountRef, i.Label, string(i.Visibility), allowed,
		string(i.Restriction), i.First.ID, engine.At(i.CreatedAt), engine.At(i.ExpiresAt), engine.At(i.ExpiresAt))
	if err != nil || n == 0 {
		return false, err
	}
	return true, s.AddToken(ctx, i.OrgID, i.First)
}

func (s Store) Inbox(ctx context.Context, orgID, id string) (inboxes.Inbox, error) {
	row, err := engine.One[inboxRow](ctx, s.db, "inbox", s.db.LockedInside(ctx, inboxByID, lockInbox), orgID, id)
	if err != nil {
		return inboxes.Inbox{}, err
	}
	return row.inbox()
}

func (s Store) Inboxes(ctx context.Context, orgID string, f inboxes.Filter) ([]inboxes.Inbox, error) {
	return engine.ListParsed(ctx, s.db, inboxRow.inbox, newestInboxes, orgID, f.Owner, f.Shared, f.AccountRef, string(f.Status), engine.At(f.Now), f.Limit)
}

func (s Store) SetLabel(ctx context.Context, orgID, id, label string, v inboxes.Visibility) error {
	return s.db.Change(ctx, "inbox", labelInbox, label, string(v), orgID, id)
}

func (s Store) DeleteInbox(ctx context.Context, orgID, id string, now time.Time) (bool, error) {
	at := engine.At(now)
	n, err := s.db.Exec(ctx, deleteInbox, at, at, orgID, id, at)
	if err != nil || n == 0 {
		return false, err
	}
	_, err = s.db.Exec(ctx, endTokens, ended, orgID, id)
	return true, err
}

func (s Store) NthMint(ctx context.Context, orgID string, since time.Time, n int) (*time.Time, error) {
	return s.nth(ctx, n, nthMint, orgID, engine.At(since), n)
}

func (s Store) NthEnd(ctx context.Context, orgID string, f inboxes.LiveFilter, now time.Time, n int) (*time.Time, error) {
	return s.nth(ctx, n, nthEnd, orgID, engine.At(now), f.Unrestricted, f.Caller, f.AccountRef, n)
}

// nth returns the earliest of the n latest times that a statement finds, nil if it finds fewer.
func (s Store) nth(ctx context.Context, n int, statement *engine.Statement, args ...any) (*time.Time, error) {
	type row struct {
		N  int          `db:"n"`
		At *engine.Time `db:"at"`
	}
	found, err := engine.One[row](ctx, s.db, "inbox", statement, args...)
	if err != nil || found.N < n {
		return nil, err
	}
	return engine.OptionalTime(found.At), nil
}

func (s Store) Address(ctx context.Context, localPart string) (inboxes.Target, error) {
	row, err := engine.One[targetRow](ctx, s.db, "inbox", inboxByAddress, localPart)
	return row.target(), err
}

type targetRow struct {
	OrgID string `db:"org_id"`
	ID    string `db:"id"`
}

func (r targetRow) target() inboxes.Target { return inboxes.Target{OrgID: r.OrgID, InboxID: r.ID} }
