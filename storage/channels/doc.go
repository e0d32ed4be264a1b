// Package channels stores what a sync found in the sending account: channels, identities and
// tracking domains, and the claims that give each of them to one organization.
package channels
