package people

import (
	"context"
	"time"
)

// AuthenticatorApp is the shared secret of a person's authenticator app (RFC 6238). It
// counts as a factor once a first code has confirmed it.
type AuthenticatorApp struct {
	UserID      string
	Sealed      []byte // encrypted with the master key
	UsedStep    int64  // the last time step whose code was accepted
	CreatedAt   time.Time
	ConfirmedAt *time.Time
}

// FactorStore keeps authenticator apps and recovery codes. Finders fail with
// core.CodeNotFound. Every method takes part in the transaction of its context.
type FactorStore interface {
	// SetAuthenticatorApp stores a secret in the place of another of the person that
	// was never confirmed. It fails with core.CodeConflict when one is confirmed.
	SetAuthenticatorApp(ctx context.Context, a AuthenticatorApp) error
	AuthenticatorApp(ctx context.Context, userID string) (AuthenticatorApp, error)
	// UseStep takes a time step, and reports false when it or a later one was taken
	// before: of any number of concurrent callers one gets true. It stores confirmedAt
	// for an app that is not confirmed yet.
	UseStep(ctx context.Context, userID string, step int64, confirmedAt time.Time) (bool, error)
	DeleteAuthenticatorApp(ctx context.Context, userID string) error

	// SetRecoveryCodes replaces all recovery codes of a person by these hashes.
	SetRecoveryCodes(ctx context.Context, userID string, hashes [][]byte) error
	// UseRecoveryCode takes one; it reports false for one that is unknown or used.
	UseRecoveryCode(ctx context.Context, userID string, hash []byte, at time.Time) (bool, error)
	// RecoveryCodesLeft counts the codes that are not used.
	RecoveryCodesLeft(ctx context.Context, userID string) (int, error)
}

// Passkey is a WebAuthn credential of a person. Credential is the JSON that
// [PasskeyProtocol] needs to judge the next answer.
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
// It is found by the hash of a secret that the browser holds. It is answered once.
type PasskeyCeremony struct {
	Hash      []byte
	UserID    string // "" for a sign-in, which names no person
	Purpose   string // register, sign_in or confirm
	Data      string // the protocol's memory, as JSON
	ExpiresAt time.Time
}

// PasskeyStore keeps passkeys and ceremonies. Finders fail with core.CodeNotFound.
// Every method takes part in the transaction of its context.
type PasskeyStore interface {
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
