package access

import (
	"context"
	"time"
)

// Authenticator apps (RFC 6238), recovery codes and passkeys (WebAuthn) are a
// person's second factors, whatever organization the person works in.

// AuthenticatorApp is the shared secret of a person's authenticator app. It
// counts as a factor once a first code has confirmed it.
type AuthenticatorApp struct {
	UserID      string
	Sealed      []byte // encrypted with the master key
	UsedStep    int64  // the last time step whose code was taken
	CreatedAt   time.Time
	ConfirmedAt *time.Time
}

// Passkey is a WebAuthn credential of a person. Credential is the JSON of what
// the ceremony's library has to remember of it.
type Passkey struct {
	ID           string
	UserID       string
	CredentialID []byte
	Name         string
	Credential   string
	CreatedAt    time.Time
	LastUsedAt   *time.Time
}

// PasskeyCeremony is a question to an authenticator that waits for its answer.
// It is found by the hash of a secret that the browser holds, and is good once.
type PasskeyCeremony struct {
	Hash      []byte
	UserID    string // "" when nobody is known yet
	Purpose   string // register, sign_in or confirm
	Data      string // the library's session, as JSON
	ExpiresAt time.Time
}

// SecondFactorStore keeps second factors. Finders fail with core.CodeNotFound.
// Every method takes part in the transaction of its context.
type SecondFactorStore interface {
	// HoldUser waits until nobody else holds the person, and holds the person until
	// the transaction ends: what somebody has set up is several rows.
	HoldUser(ctx context.Context, userID string) error
	// SetAuthenticatorApp stores a secret in the place of another of the person that
	// was never confirmed. It fails with core.CodeConflict when one is confirmed.
	SetAuthenticatorApp(ctx context.Context, a AuthenticatorApp) error
	AuthenticatorApp(ctx context.Context, userID string) (AuthenticatorApp, error)
	// UseStep takes a time step, and reports false when it or a later one was taken
	// before: of any number of concurrent callers one gets true. confirmedAt is
	// stored with it when the app was not confirmed yet.
	UseStep(ctx context.Context, userID string, step int64, confirmedAt time.Time) (bool, error)
	DeleteAuthenticatorApp(ctx context.Context, userID string) error

	// SetRecoveryCodes replaces all recovery codes of a person by their hashes.
	SetRecoveryCodes(ctx context.Context, userID string, hashes [][]byte) error
	// UseRecoveryCode takes one; it reports false for one that is unknown or used.
	UseRecoveryCode(ctx context.Context, userID string, hash []byte, at time.Time) (bool, error)
	// RecoveryCodesLeft counts those that are not used.
	RecoveryCodesLeft(ctx context.Context, userID string) (int, error)

	InsertPasskey(ctx context.Context, p Passkey) error
	// Passkeys lists a person's, oldest first.
	Passkeys(ctx context.Context, userID string) ([]Passkey, error)
	PasskeyByCredential(ctx context.Context, credentialID []byte) (Passkey, error)
	// SetPasskey stores name, credential and last use.
	SetPasskey(ctx context.Context, p Passkey) error
	DeletePasskey(ctx context.Context, userID, id string) error
	DeletePasskeysOf(ctx context.Context, userID string) error

	InsertCeremony(ctx context.Context, c PasskeyCeremony) error
	// TakeCeremony finds one that has not expired at now, and deletes it.
	TakeCeremony(ctx context.Context, hash []byte, now time.Time) (PasskeyCeremony, error)
	PurgeCeremonies(ctx context.Context, now time.Time) (int, error)
}
