// Package access returns the [core.Principal] of a bearer credential. It owns API keys,
// OAuth clients, the grants of people to clients, and the tokens of grants. It also owns
// the types of the audit log: events, actors and the filter of its pages.
//
// It mints and checks secrets of 256 random bits; only their SHA-256 hashes are stored. A
// process caches a principal for at most five seconds.
//
// It does not issue tokens (oauth does) and does not decide what a principal may do
// (guardrails does). Signing in is in core/people, membership of an organization in
// core/members. The keys that sign tokens are in core/signing.
//
// # Size
//
// It has many small files because each operation on keys, clients and grants has its own.
package access
