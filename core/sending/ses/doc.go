// Package ses calls a customer's account at Amazon SES through the SES v2 API.
//
// An [Account] belongs to one organization, for which it is opened; it ignores the
// organization id of its calls. The package cmd passes [Open] to [sending.NewAccounts].
//
// An account caches only its id, the name of its contact list, details of its identities
// and its send rate. Its credentials come from the connection. For a role without an access
// key, they may be those of the installation.
//
// Reads, and writes that may be repeated, are tried at most twice. A message is sent to SES
// only once, because a retry after an unknown outcome could send it twice. Callers do not
// retry either, except the queue of a broadcast, which retries only failures without an
// effect.
package ses
