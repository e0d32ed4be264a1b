// Package account describes the customer's sending account: the organization with its plan,
// the quota, and whether everything is ready to send. It calls the account through the
// interface in core/sending and caches the account's state for a minute.
package account
