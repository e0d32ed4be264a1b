// Package organization has the dashboard's pages for managing an organization: the sending
// account and its connection, channels, members and invitations, settings, and the audit
// log. It also has the page of an invitation, which people can open without signing in.
//
// The rules are in core/members, core/account, core/channels and core/sending. This package
// decides only what a page shows, and to which member.
package organization
