// Package members owns the membership of users in organizations: roles, permissions,
// invitations, and the settings that members with a permission may change.
//
// It checks that the actor may perform each operation. Sign-in is in core/people,
// credentials are in core/access. The end of a membership revokes the person's grants to
// OAuth clients in that organization.
//
// The members of a list or a segment are contacts; they are in core/contacts and
// core/segments.
package members
