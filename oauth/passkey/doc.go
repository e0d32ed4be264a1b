// Package passkey implements [people.PasskeyProtocol]: the WebAuthn ceremonies of
// Mailhelm.
//
// It requires discoverable credentials and user verification, without attestation. It
// stores nothing. The caller stores the passkeys and acts on valid answers.
package passkey
