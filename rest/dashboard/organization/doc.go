// Package organization is the dashboard's pages on which an organization is run: the
// sending account and its connection, channels, members and invitations, settings, and
// the audit log. The page of an invitation is here too; it is also for people who are not
// signed in.
//
// The rules are in core/members, core/account, core/channels and core/sending; the room
// decides only what a page shows and to which member.
package organization
