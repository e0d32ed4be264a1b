// Package inboxes stores temporary inboxes, their pull links and their messages, and passes
// notices about inboxes between processes.
package inboxes
