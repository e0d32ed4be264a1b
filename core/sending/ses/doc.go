// Package ses reaches a customer's account at Amazon SES through its v2 API.
//
// An [Account] belongs to one organization. The organization is checked when the
// account is opened; the organization id of a call is ignored. cmd passes [Open] to
// [sending.NewAccounts].
//
// An account caches only its id, the name of its contact list, details of its
// identities and its send rate. Credentials come only from the connection, unless cmd
// passes in those of the machine.
//
// Reads, and writes that may be repeated, are tried twice. A message is handed over
// once, because a retry after an unknown outcome could send it twice. Callers do not
// retry either. The exception is the queue of a broadcast, which retries only failures
// without an effect.
package ses
