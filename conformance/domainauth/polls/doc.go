// Package polls has tests of a running product that polls DNS about the domains of domain
// authentication.
package polls
