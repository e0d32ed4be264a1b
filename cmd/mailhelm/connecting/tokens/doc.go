// Package tokens requests tokens at the token endpoint of an authorization server, revokes
// them, and repeats requests that failed for a temporary reason.
package tokens
