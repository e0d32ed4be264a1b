// Package passkey implements [people.PasskeyProtocol] with WebAuthn: it creates the options
// for a passkey and verifies the response.
//
// It requires discoverable credentials and user verification, without attestation. It
// stores nothing. The caller stores the passkeys and decides what a valid response permits.
package passkey
