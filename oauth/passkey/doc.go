// Package passkey is [access.PasskeyProtocol]: the WebAuthn ceremonies of Mailhelm.
//
// It decides what is asked of authenticators: discoverable credentials, with
// verification of the person every time, without attestation. It keeps nothing;
// which passkeys there are and what a good answer means is core/access.
package passkey
