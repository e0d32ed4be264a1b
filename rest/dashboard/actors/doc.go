// Package actors says on pages of the dashboard who changed something, in words: a member, an
// API key or an application.
//
// It names only those whom the visitor may see elsewhere. Every member sees the list of
// members, so members are named to everyone. API keys and applications are named to those
// who may manage credentials, and former members to those who may manage members. All of
// them are named to those who may read the audit log, which has the same names. For other
// visitors, it says the kind: "an API key", "an application", "a former member".
//
// The audit log and the overview of changes need the permission for the audit log. They read
// [Records], which has the names themselves.
package actors
