// Package channels stores what a sync read from the sending account: channels, identities
// and tracking domains. It also stores claims. A claim reserves a channel or an identity of
// an account for one organization.
package channels
