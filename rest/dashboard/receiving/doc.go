// Package receiving has the dashboard pages about receiving domains: their DNS records and
// webhook, their addresses, and the log of received mail.
package receiving
