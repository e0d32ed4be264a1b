// Package bearer returns the [core.Principal] of a bearer credential: an API key or an access
// token. Its [Authenticator] reads the keys, clients and grants of core/access and caches
// each principal for at most five seconds. A revocation in this process takes effect at
// once, one in another process within these five seconds.
//
// It also says how a host tells clients which credentials it accepts: in the
// protected-resource document (RFC 9728) and in the WWW-Authenticate header (RFC 6750).
//
// It does not verify the signature of an access token (oauth does) and does not decide what
// a principal may do (guardrails does).
package bearer
