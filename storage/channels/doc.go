// Package channels stores what a sync read from the sending account: channels,
// identities and tracking domains. It also stores claims, by which each of them belongs
// to one organization.
package channels
