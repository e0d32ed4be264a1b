package people

import (
	"context"
	"time"
)

// AuthenticatorApp is the shared secret of a person's authenticator app (RFC 6238). It is a
// factor from its first accepted code on.
type AuthenticatorApp struct {
	UserID      string
	Sealed      []byte // encrypted with the master key
	UsedStep    int64  // the last time step whose code was accepted
	CreatedAt   time.Time
	ConfirmedAt *time.Time
}

// FactorStore stores authenticator apps and recovery codes. Finders fail with
// core.CodeNotFound. Every method takes part in the transaction of its context.
type FactorStore interface {
	// SetAuthenticatorApp stores a secret and replaces an unconfirmed one of the person. It
	// fails with core.CodeConflict when the person has a confirmed one.
	SetAuthenticatorApp(ctx context.Context, a AuthenticatorApp) error
	AuthenticatorApp(ctx context.Context, userID string) (AuthenticatorApp, error)
	// UseStep marks a time step as used. It returns false if this step or a later one was
	// used before, so of any number of concurrent callers one gets true. It stores
	// confirmedAt for an unconfirmed app.
	UseStep(ctx context.Context, userID string, step int64, confirmedAt time.Time) (bool, error)
	DeleteAuthenticatorApp(ctx context.Context, userID string) error

	// SetRecoveryCodes replaces all recovery codes of a person by these hashes.
	SetRecoveryCodes(ctx context.Context, userID string, hashes [][]byte) error
	// UseRecoveryCode marks a code as used. It returns false for an unknown or used one.
	UseRecoveryCode(ctx context.Context, userID string, hash []byte, at time.Time) (bool, error)
	// RecoveryCodesLeft counts the codes that are not used.
	RecoveryCodesLeft(ctx context.Context, userID string) (int, error)
}

// Passkey is a WebAuthn credential of a person. Credential is the JSON that
// [PasskeyProtocol] needs to verify the next answer.
type Passkey struct {
	ID           string
	UserID       string
	CredentialID []byte
	Name         string
	Credential   string
	CreatedAt    time.Time
	LastUsedAt   *time.Time
}

// PasskeyCeremony is the state of a request to an authenticator until the answer arrives. It
// is found by the hash of a secret that the browser has. It is deleted by the first answer.
type PasskeyCeremony struct {
	Hash      []byte
	UserID    string // "" for a sign-in, which names no person
	Purpose   string // register, sign_in or confirm
	Data      string // the protocol's memory, as JSON
	ExpiresAt time.Time
}

// PasskeyStore stores passkeys and ceremonies. Finders fail with core.CodeNotFound. Every
// method takes part in the transaction of its context.
type PasskeyStore interface {
	InsertPasskey(ctx context.Context, p Passkey) error
	// Passkeys returns a person's passkeys, oldest first.
	Passkeys(ctx context.Context, userID string) ([]Passkey, error)
	PasskeyByCredential(ctx context.Context, credentialID []byte) (Passkey, error)
	// SetPasskey replaces the name, credential and last use of a passkey.
	SetPasskey(ctx context.Context, p Passkey) error
	DeletePasskey(ctx context.Context, userID, id string) error
	DeletePasskeysOf(ctx context.Context, userID string) error

	InsertCeremony(ctx context.Context, c PasskeyCeremony) error
	// TakeCeremony deletes a ceremony that has not expired at now, and returns it.
	TakeCeremony(ctx context.Context, hash []byte, now time.Time) (PasskeyCeremony, error)
	PurgeCeremonies(ctx context.Context, now time.Time) (int, error)
}
