// Package actors says on pages of the dashboard who changed something, in words: a member, an
// API key or an application.
//
// [Names] has only names that the visitor may see elsewhere. Every member sees the list of
// members, so members are named to everyone. API keys and applications are named to visitors
// who may manage credentials, and former members to visitors who may manage members. Visitors
// who may read the audit log see all of these names, because the log has them too. For other
// visitors, Names has the kind: "an API key", "an application", "a former member".
//
// [Records] has all names. The audit log and the list of today's changes on the overview use
// it, because they require the permission for the audit log.
package actors
