// Package inbound tests receiving domains from outside: mail comes by SMTP, and leaves as a
// signed webhook.
package inbound
