// Package inboxes tests temporary inboxes from outside: mail comes by SMTP, and is read by REST
// and by pull links.
package inboxes
