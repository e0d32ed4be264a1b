package people

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// peopleStore is [people.Store].
type peopleStore struct{ db *engine.DB }

var _ people.Store = peopleStore{}

// New returns the store of known devices and password warnings.
func New(db *engine.DB) people.Store { return peopleStore{db} }

// NewUserStore returns the store of people and their password hashes.
func NewUserStore(db *engine.DB) people.UserStore { return userStore{db} }

// NewSessionStore returns the store of sessions.
func NewSessionStore(db *engine.DB) people.SessionStore { return sessionStore{db} }

// NewFactorStore returns the store of authenticator apps and recovery codes.
func NewFactorStore(db *engine.DB) people.FactorStore { return factorStore{db} }

// NewPasskeyStore returns the store of passkeys. It also stores the ceremonies that are in
// progress: registrations of passkeys, sign-ins and second factors with passkeys.
func NewPasskeyStore(db *engine.DB) people.PasskeyStore { return passkeyStore{db} }

// Purge deletes expired known devices, and password warnings that are older than the time
// in the parameter warnings. It returns the number of deleted rows, even with an error.
// Each statement commits on its own.
func (s peopleStore) Purge(ctx context.Context, now, warnings time.Time) (int, error) {
	purged := 0
	for _, one := range []struct {
		of     *engine.Statement
		before time.Time
	}{{purgeDevices, now}, {purgeWarnings, warnings}} {
		gone, err := s.db.Exec(ctx, one.of, engine.At(one.before))
		if err != nil {
			return purged, err
		}
		purged += gone
	}
	return purged, nil
}
