// Package inboxes has the dashboard pages about temporary inboxes: the list, the form for a
// new inbox, one inbox with its mail as it arrives, one message, and pull links.
//
// Mail comes from strangers. Its HTML is shown in a frame without scripts and without content
// from the network, and its texts without invisible characters. Images that are parts of the
// message are written into that HTML; see package safehtml for the reason, and [Attachments].
package inboxes
