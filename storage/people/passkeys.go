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

// passkeyRow is a passkey. Credential is the public key and the signature counter, in the
// JSON form of the WebAuthn library.
type passkeyRow struct {
	UserID       string       `db:"user_id"`
	ID           string       `db:"id"`
	CredentialID []byte       `db:"credential_id"`
	Name         string       `db:"name"`
	Credential   string       `db:"credential"`
	CreatedAt    engine.Time  `db:"created_at"`
	LastUsedAt   *engine.Time `db:"last_used_at"`
}

// ceremonyRow is the state that the server stores for a passkey registration, a sign-in or
// a second factor until the browser answers. UserID is "" for a sign-in in which the
// passkey identifies the person.
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
	// insertPasskey inserts a passkey. It changes nothing if the credential is stored
	// already, even for another person.
	insertPasskey = engine.Register("insert passkey", `
		INSERT INTO passkeys (`+webauthnColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT DO NOTHING`)
	// passkeysOf selects the passkeys of a person, oldest first.
	passkeysOf = engine.Register("passkeys of a user", `
		SELECT `+webauthnColumns+` FROM passkeys WHERE user_id = $1 ORDER BY created_at, id`)
	// passkeyByCredential selects a passkey and its person by the credential id. It is for a
	// sign-in in which the person enters no address.
	passkeyByCredential = engine.RegisterPoint("passkey by credential", `
		SELECT `+webauthnColumns+` FROM passkeys WHERE credential_id = $1`)
	// setPasskey updates a passkey. It runs after each use, because the signature counter in
	// the credential has then changed.
	setPasskey = engine.Register("set passkey", `
		UPDATE passkeys SET name = $1, credential = $2, last_used_at = $3 WHERE user_id = $4 AND id = $5`)
	deletePasskey    = engine.Register("delete passkey", `DELETE FROM passkeys WHERE user_id = $1 AND id = $2`)
	deletePasskeysOf = engine.Register("delete passkeys of a user", `DELETE FROM passkeys WHERE user_id = $1`)

	insertCeremony = engine.Register("insert passkey ceremony", `
		INSERT INTO passkey_ceremonies (`+ceremonyColumns+`) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT DO NOTHING`)
	// takeCeremony deletes and returns a passkey ceremony (a registration or sign-in in
	// progress) in one statement, so that an answer can be used only once. It does not find
	// an expired ceremony.
	takeCeremony = engine.Register("take passkey ceremony", `
		DELETE FROM passkey_ceremonies WHERE hash = $1 AND expires_at > $2 RETURNING `+ceremonyColumns)
	purgeCeremonies = engine.Register("purge passkey ceremonies", `DELETE FROM passkey_ceremonies WHERE expires_at <= $1`)
)

func (s passkeyStore) InsertPasskey(ctx context.Context, p people.Passkey) error {
	taken := core.Conflict("This passkey was added before.", "Use it, or add another one.")
	return s.db.Insert(ctx, taken, insertPasskey, p.UserID, p.ID, p.CredentialID, p.Name, p.Credential, engine.At(p.CreatedAt), engine.OptionalAt(p.LastUsedAt))
}

func (s passkeyStore) Passkeys(ctx context.Context, userID string) ([]people.Passkey, error) {
	return engine.ListAs(ctx, s.db, passkeyRow.passkey, passkeysOf, userID)
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

// DeletePasskey deletes a passkey. It fails with NotFound if the person has no passkey with
// the id.
func (s passkeyStore) DeletePasskey(ctx context.Context, userID, id string) error {
	return s.db.Change(ctx, "passkey", deletePasskey, userID, id)
}

// DeletePasskeysOf deletes all passkeys of a person. It also succeeds if the person has
// none.
func (s passkeyStore) DeletePasskeysOf(ctx context.Context, userID string) error {
	_, err := s.db.Exec(ctx, deletePasskeysOf, userID)
	return err
}

func (s passkeyStore) InsertCeremony(ctx context.Context, c people.PasskeyCeremony) error {
	taken := core.Conflict("This ceremony exists already.", "Begin another one.")
	return s.db.Insert(ctx, taken, insertCeremony, c.Hash, c.UserID, c.Purpose, c.Data, engine.At(c.ExpiresAt))
}

// TakeCeremony deletes a passkey ceremony (a registration or sign-in in progress) and
// returns it. Of concurrent callers only one gets it. The other callers get NotFound, and
// so does a caller with an expired ceremony.
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
