package inboxes

import (
	"context"
	"errors"
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
	// reachedLimits has a row for each of two limits with a window, and two without. n is the
	// number of inboxes that count, at most the limit, and at is the time of the last of them.
	reachedLimits = engine.Register("reached limits of inboxes", `
		SELECT 0 AS place, count(*) AS n, min(at) AS at FROM (`+mintsSQL("$2", "$3")+`) AS mints_0
		UNION ALL SELECT 1, count(*), min(at) FROM (`+mintsSQL("$4", "$5")+`) AS mints_1
		UNION ALL SELECT 2, count(*), min(at) FROM (`+endsSQL("$6", "$7", "$8", "$9", "$10")+`) AS ends_0
		UNION ALL SELECT 3, count(*), min(at) FROM (`+endsSQL("$6", "$11", "$12", "$13", "$14")+`) AS ends_1`)
	inboxByAddress = engine.RegisterPoint("inbox by address", `
		SELECT org_id, id FROM inboxes WHERE local_part = $1 AND `+engine.NotDeleted("org_id"))
)

// mintsSQL selects the creation of the newest unrestricted inboxes after since, at most n.
func mintsSQL(since, n string) string {
	return `SELECT created_at AS at FROM inboxes
			WHERE org_id = $1 AND restriction = '' AND created_at > ` + since + ` ORDER BY created_at DESC LIMIT ` + n
}

// endsSQL selects the ends of the live inboxes that end last, at most n. The other parameters are
// those of an [inboxes.LiveFilter].
func endsSQL(now, unrestricted, caller, ref, n string) string {
	return `SELECT ends_at AS at FROM inboxes
			WHERE org_id = $1 AND ends_at > ` + now + ` AND (restriction = '' OR NOT ` + unrestricted + `)
				AND (CAST(` + caller + ` AS bytetext) = '' OR caller = ` + caller + `) AND (CAST(` + ref + ` AS bytetext) = '' OR account_ref = ` + ref + `)
			ORDER BY ends_at DESC LIMIT ` + n
}

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
	disabled, err := engine.Values[bool](ctx, s.db, holdMints, orgID)
	if err == nil && len(disabled) == 0 { // the first inbox of the organization
		if _, err := s.db.Exec(ctx, addInboxOrg, orgID); err != nil {
			return false, err
		}
		disabled, err = engine.Values[bool](ctx, s.db, holdMints, orgID)
	}
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

// perKind is the number of limits with a window, and of those without, in reachedLimits.
const perKind = 2

func (s Store) Reached(ctx context.Context, orgID string, limits []inboxes.Limit, now time.Time) ([]*time.Time, error) {
	// A limit that is not given has the number 0, so that no inbox is counted for it.
	var placed [2 * perKind]inboxes.Limit
	places := make([]int, len(limits))
	used := [2]int{}
	for i, l := range limits {
		kind := 0
		if l.Window == 0 {
			kind = 1
		}
		if used[kind] == perKind {
			return nil, errors.New("storage: too many limits of inboxes of one kind")
		}
		places[i] = kind*perKind + used[kind]
		placed[places[i]] = l
		used[kind]++
	}
	args := []any{orgID}
	for _, l := range placed[:perKind] {
		args = append(args, engine.At(now.Add(-l.Window)), l.N)
	}
	args = append(args, engine.At(now))
	for _, l := range placed[perKind:] {
		args = append(args, l.Live.Unrestricted, l.Live.Caller, l.Live.AccountRef, l.N)
	}
	type row struct {
		Place int          `db:"place"`
		N     int          `db:"n"`
		At    *engine.Time `db:"at"`
	}
	found, err := engine.List[row](ctx, s.db, reachedLimits, args...)
	if err != nil {
		return nil, err
	}
	var at [2 * perKind]*time.Time
	for _, r := range found {
		if r.N > 0 && r.N >= placed[r.Place].N {
			at[r.Place] = engine.OptionalTime(r.At)
		}
	}
	reached := make([]*time.Time, len(limits))
	for i, place := range places {
		reached[i] = at[place]
	}
	return reached, nil
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
