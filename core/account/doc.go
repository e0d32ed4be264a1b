// Package account describes the customer's sending account: the organization and its
// plan, the quota, and whether everything is ready to send. It reads the account through
// the port in core/sending and caches the answer for a minute.
package account
