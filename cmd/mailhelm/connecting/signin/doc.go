// Package signin lets a person sign in with the system's browser and returns the tokens: an
// authorization code with PKCE, received on the loopback (RFC 8252, RFC 7636).
package signin
