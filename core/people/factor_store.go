package people

import (
	"context"
	"time"
)

// AuthenticatorApp is the secret that a person's authenticator app shares with Mailhelm
// (RFC 6238). It is a second factor once its first code was accepted.
type AuthenticatorApp struct {
	UserID      string
	Sealed      []byte // encrypted with the master key
	UsedStep    int64  // the last time step whose code was accepted
	CreatedAt   time.Time
	ConfirmedAt *time.Time
}

// FactorStore stores authenticator apps and recovery codes. Methods that return one record
// fail with core.CodeNotFound if it does not exist. Every method takes part in the
// transaction of its context.
type FactorStore interface {
	// SetAuthenticatorApp stores the secret of an app and replaces an unconfirmed app of the
	// person. It fails with core.CodeConflict if the person has a confirmed app.
	SetAuthenticatorApp(ctx context.Context, a AuthenticatorApp) error
	AuthenticatorApp(ctx context.Context, userID string) (AuthenticatorApp, error)
	// UseStep marks a time step of the person's app as used. It returns false if this step
	// or a later one was used before, so that of several concurrent calls one gets true. It
	// sets ConfirmedAt of an unconfirmed app to confirmedAt.
	UseStep(ctx context.Context, userID string, step int64, confirmedAt time.Time) (bool, error)
	DeleteAuthenticatorApp(ctx context.Context, userID string) error

	// SetRecoveryCodes replaces all recovery codes of a person with codes that have these
	// hashes.
	SetRecoveryCodes(ctx context.Context, userID string, hashes [][]byte) error
	// UseRecoveryCode marks a recovery code as used. It returns false if the code is unknown
	// or was used before.
	UseRecoveryCode(ctx context.Context, userID string, hash []byte, at time.Time) (bool, error)
	// RecoveryCodesLeft returns the number of the person's unused recovery codes.
	RecoveryCodesLeft(ctx context.Context, userID string) (int, error)
}

// Passkey is a WebAuthn credential of a person. Credential is the JSON that
// [PasskeyProtocol] needs to verify the next answer of the authenticator.
type Passkey struct {
	ID           string
	UserID       string
	CredentialID []byte
	Name         string
	Credential   string
	CreatedAt    time.Time
	LastUsedAt   *time.Time
}

// PasskeyCeremony is the stored state of a request to an authenticator until its answer
// arrives. It is found by the hash of a secret that the browser has. The first answer
// deletes it.
type PasskeyCeremony struct {
	Hash      []byte
	UserID    string // "" for a sign-in, since the person is not known yet
	Purpose   string // register, sign_in or confirm: what the answer is for
	Data      string // the state that [PasskeyProtocol] needs to verify the answer
	ExpiresAt time.Time
}

// PasskeyStore stores passkeys and the state of open requests to authenticators
// (ceremonies). A method that returns a single record fails with core.CodeNotFound if the
// record does not exist. Every method takes part in the transaction of its context.
type PasskeyStore interface {
	InsertPasskey(ctx context.Context, p Passkey) error
	// Passkeys returns a person's passkeys, oldest first.
	Passkeys(ctx context.Context, userID string) ([]Passkey, error)
	PasskeyByCredential(ctx context.Context, credentialID []byte) (Passkey, error)
	// SetPasskey replaces the name, the credential and the time of last use of a passkey.
	SetPasskey(ctx context.Context, p Passkey) error
	DeletePasskey(ctx context.Context, userID, id string) error
	DeletePasskeysOf(ctx context.Context, userID string) error

	InsertCeremony(ctx context.Context, c PasskeyCeremony) error
	// TakeCeremony deletes the passkey ceremony (a request that awaits its answer) with the
	// hash, and returns it. It fails with core.CodeNotFound if there is none or if it has
	// expired at the time now.
	TakeCeremony(ctx context.Context, hash []byte, now time.Time) (PasskeyCeremony, error)
	PurgeCeremonies(ctx context.Context, now time.Time) (int, error)
}
