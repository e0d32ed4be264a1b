package inboxes

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/storage/engine"
)

var (
	addToken = engine.Register("add inbox token", `
		INSERT INTO inbox_tokens (org_id, inbox_id, id, hash, prefix, label, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`)
	tokensOfInbox = engine.Register("inbox tokens", `
		SELECT inbox_id, id, hash, prefix, label, created_at, revoked_at FROM inbox_tokens WHERE org_id = $1 AND inbox_id = $2
		ORDER BY CASE WHEN revoked_at IS NULL THEN 0 ELSE 1 END, created_at DESC, id DESC`)
	// A link that no longer works gets a longer hash, which no secret has. So a search for it takes
	// as long as for a link that never existed.
	revokeToken = engine.Register("revoke inbox token", `
		UPDATE inbox_tokens SET revoked_at = $1, hash = hash || $2 WHERE org_id = $3 AND inbox_id = $4 AND id = $5 AND revoked_at IS NULL`)
	endTokens = engine.Register("end inbox tokens", `
		UPDATE inbox_tokens SET hash = hash || $1 WHERE org_id = $2 AND inbox_id = $3 AND revoked_at IS NULL`)
	inboxByToken = engine.RegisterPoint("inbox by token", `
		SELECT `+inboxColumns+` FROM inbox_tokens AS t
		JOIN inboxes AS i ON i.org_id = t.org_id AND i.id = t.inbox_id
		JOIN inbox_tokens AS f ON f.org_id = i.org_id AND f.inbox_id = i.id AND f.id = i.token_id
		WHERE t.hash = $1 AND t.revoked_at IS NULL AND i.deleted_at IS NULL AND `+engine.NotDeleted("i.org_id"))
)

// ended is what is appended to the hash of a link that no longer works.
var ended = []byte{0}

// tokenRow is a row of inbox_tokens.
type tokenRow struct {
	InboxID   string       `db:"inbox_id"`
	ID        string       `db:"id"`
	Hash      []byte       `db:"hash"`
	Prefix    string       `db:"prefix"`
	Label     string       `db:"label"`
	CreatedAt engine.Time  `db:"created_at"`
	RevokedAt *engine.Time `db:"revoked_at"`
}

func (r tokenRow) token() inboxes.Token {
	return inboxes.Token{ID: r.ID, InboxID: r.InboxID, Hash: r.Hash, Prefix: r.Prefix, Label: r.Label, CreatedAt: r.CreatedAt.Time(), RevokedAt: engine.OptionalTime(r.RevokedAt)}
}

func (s Store) AddToken(ctx context.Context, orgID string, t inboxes.Token) error {
	return s.db.Later(ctx, addToken, orgID, t.InboxID, t.ID, t.Hash, t.Prefix, t.Label, engine.At(t.CreatedAt))
}

func (s Store) PullTokens(ctx context.Context, orgID, inboxID string) ([]inboxes.Token, error) {
	return engine.ListAs(ctx, s.db, tokenRow.token, tokensOfInbox, orgID, inboxID)
}

func (s Store) RevokeToken(ctx context.Context, orgID, inboxID, id string, now time.Time) error {
	_, err := s.db.Exec(ctx, revokeToken, engine.At(now), ended, orgID, inboxID, id)
	return err
}

func (s Store) InboxByToken(ctx context.Context, hash []byte) (inboxes.Inbox, error) {
	row, err := engine.One[inboxRow](ctx, s.db, "inbox link", inboxByToken, hash)
	if err != nil {
		return inboxes.Inbox{}, err
	}
	return row.inbox()
}
