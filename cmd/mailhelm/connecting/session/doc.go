// Package session keeps the access of `mailhelm mcp` to one agent endpoint: it signs the
// person in at first use, refreshes access tokens before they end, and forgets a grant that
// has ended. Several processes may share one stored grant.
package session
