package people

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// passkeyStore is [people.PasskeyStore].
type passkeyStore struct{ db *engine.DB }

// passkeyRow is a passkey. Credential is the credential as the WebAuthn library encodes
// it, with its counter of signatures.
type passkeyRow struct {
	UserID       string       `db:"user_id"`
	ID           string       `db:"id"`
	CredentialID []byte       `db:"credential_id"`
	Name         string       `db:"name"`
	Credential   string       `db:"credential"`
	CreatedAt    engine.Time  `db:"created_at"`
	LastUsedAt   *engine.Time `db:"last_used_at"`
}

// ceremonyRow is a registration or a sign-in that waits for the browser's answer. UserID
// is "" where the passkey tells the person.
type ceremonyRow struct {
	Hash      []byte      `db:"hash"`
	UserID    string      `db:"user_id"`
	Purpose   string      `db:"purpose"`
	Data      string      `db:"data"`
	ExpiresAt engine.Time `db:"expires_at"`
}

const (
	// webauthnColumns lists the columns of a passkey in the order of the parameters of
	// insertPasskey.
	webauthnColumns = `user_id, id, credential_id, name, credential, created_at, last_used_at`
	ceremonyColumns = `hash, user_id, purpose, data, expires_at`
)

var (
	// insertPasskey changes nothing if the credential is stored, for this person or
	// another.
	insertPasskey = engine.Register("insert passkey", `
		INSERT INTO passkeys (`+webauthnColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT DO NOTHING`)
	// passkeysOf reads by the primary key, oldest first.
	passkeysOf = engine.Register("passkeys of a user", `
		SELECT `+webauthnColumns+` FROM passkeys WHERE user_id = $1 ORDER BY created_at, id`)
	// passkeyByCredential serves a sign-in, which begins without a name of the person.
	passkeyByCredential = engine.RegisterPoint("passkey by credential", `
		SELECT `+webauthnColumns+` FROM passkeys WHERE credential_id = $1`)
	// setPasskey stores the credential again after each use, because its counter has
	// changed.
	setPasskey = engine.Register("set passkey", `
		UPDATE passkeys SET name = $1, credential = $2, last_used_at = $3 WHERE user_id = $4 AND id = $5`)
	deletePasskey    = engine.Register("delete passkey", `DELETE FROM passkeys WHERE user_id = $1 AND id = $2`)
	deletePasskeysOf = engine.Register("delete passkeys of a user", `DELETE FROM passkeys WHERE user_id = $1`)

	insertCeremony = engine.Register("insert passkey ceremony", `
		INSERT INTO passkey_ceremonies (`+ceremonyColumns+`) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT DO NOTHING`)
	// takeCeremony deletes and returns in one statement, so that an answer counts once.
	// An expired ceremony is not found.
	takeCeremony = engine.Register("take passkey ceremony", `
		DELETE FROM passkey_ceremonies WHERE hash = $1 AND expires_at > $2 RETURNING `+ceremonyColumns)
	purgeCeremonies = engine.Register("purge passkey ceremonies", `DELETE FROM passkey_ceremonies WHERE expires_at <= $1`)
)

func (s passkeyStore) InsertPasskey(ctx context.Context, p people.Passkey) error {
	taken := core.Conflict("This passkey was added before.", "Use it, or add another one.")
	return s.db.Insert(ctx, taken, insertPasskey, p.UserID, p.ID, p.CredentialID, p.Name, p.Credential, engine.At(p.CreatedAt), engine.OptionalAt(p.LastUsedAt))
}

func (s passkeyStore) Passkeys(ctx context.Context, userID string) ([]people.Passkey, error) {
	rows, err := engine.List[passkeyRow](ctx, s.db, passkeysOf, userID)
	passkeys := make([]people.Passkey, len(rows))
	for i, row := range rows {
		passkeys[i] = row.passkey()
	}
	return passkeys, err
}

func (s passkeyStore) PasskeyByCredential(ctx context.Context, credentialID []byte) (people.Passkey, error) {
	row, err := engine.One[passkeyRow](ctx, s.db, "passkey", passkeyByCredential, credentialID)
	if err != nil {
		return people.Passkey{}, err
	}
	return row.passkey(), nil
}

func (s passkeyStore) SetPasskey(ctx context.Context, p people.Passkey) error {
	return s.db.Change(ctx, "passkey", setPasskey, p.Name, p.Credential, engine.OptionalAt(p.LastUsedAt), p.UserID, p.ID)
}

// DeletePasskey deletes a passkey. It returns not_found if the person has no such
// passkey.
func (s passkeyStore) DeletePasskey(ctx context.Context, userID, id string) error {
	return s.db.Change(ctx, "passkey", deletePasskey, userID, id)
}

// DeletePasskeysOf deletes all passkeys of a person. It succeeds if there are none.
func (s passkeyStore) DeletePasskeysOf(ctx context.Context, userID string) error {
	_, err := s.db.Exec(ctx, deletePasskeysOf, userID)
	return err
}

func (s passkeyStore) InsertCeremony(ctx context.Context, c people.PasskeyCeremony) error {
	taken := core.Conflict("This ceremony exists already.", "Begin another one.")
	return s.db.Insert(ctx, taken, insertCeremony, c.Hash, c.UserID, c.Purpose, c.Data, engine.At(c.ExpiresAt))
}

// TakeCeremony deletes and returns a ceremony. Of concurrent callers one receives it.
func (s passkeyStore) TakeCeremony(ctx context.Context, hash []byte, now time.Time) (people.PasskeyCeremony, error) {
	row, err := engine.One[ceremonyRow](ctx, s.db, "passkey ceremony", takeCeremony, hash, engine.At(now))
	if err != nil {
		return people.PasskeyCeremony{}, err
	}
	return people.PasskeyCeremony{
		Hash: row.Hash, UserID: row.UserID, Purpose: row.Purpose, Data: row.Data, ExpiresAt: row.ExpiresAt.Time(),
	}, nil
}

func (s passkeyStore) PurgeCeremonies(ctx context.Context, now time.Time) (int, error) {
	return s.db.Exec(ctx, purgeCeremonies, engine.At(now))
}

// passkey converts the row.
func (r passkeyRow) passkey() people.Passkey {
	return people.Passkey{
		ID: r.ID, UserID: r.UserID, CredentialID: r.CredentialID, Name: r.Name, Credential: r.Credential,
		CreatedAt: r.CreatedAt.Time(), LastUsedAt: engine.OptionalTime(r.LastUsedAt),
	}
}
