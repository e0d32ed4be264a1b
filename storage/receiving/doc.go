// Package receiving stores receiving domains, their addresses, what is published of them, and
// the log of their mail with its deliveries.
package receiving
