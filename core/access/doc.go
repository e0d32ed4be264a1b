// Package access turns a bearer credential into a [core.Principal]. It owns API keys,
// OAuth clients, grants of people to clients, the tokens of grants, and the words of
// the audit log: events, actors and the filter of its pages.
//
// It mints and checks secrets. The stores keep SHA-256 hashes of secrets with 256
// random bits. A process remembers a principal for at most five seconds.
//
// It has 32 files because each task on keys, clients and grants is a file of its own.
//
// It does not issue tokens (oauth does) and does not decide what a principal may do
// (guardrails does). Signing in is core/people, membership of an organization
// core/members, the keys that sign tokens core/signing.
package access
