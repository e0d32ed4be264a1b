// Package access owns API keys, OAuth clients, the grants of people to clients, and the
// tokens of grants. It also owns the types of the audit log: events, actors and the filter
// of its pages.
//
// It mints and checks secrets of 256 random bits; only their SHA-256 hashes are stored.
//
// It does not authenticate a request (core/bearer does), issue tokens (oauth does) or decide
// what a principal may do (guardrails does). Signing in is in core/people, membership of an
// organization in core/members. The keys that sign tokens are in core/signing.
package access
