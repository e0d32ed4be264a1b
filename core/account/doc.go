// Package account is what the customer's sending account looks like from
// outside: the organization and its plan, the quota, whether everything is ready
// to send. It reads the account through the port in core/sending and remembers
// the answer for a minute.
package account
