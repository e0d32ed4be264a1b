// Package members owns who belongs to an organization: roles, the catalogue of
// permissions, invitations, and the settings that members with a permission change.
//
// It checks that the actor may carry out each task. Sign-in is in core/people and
// credentials are in core/access. The end of a membership revokes the person's grants to
// OAuth clients in that organization.
//
// Members of a list or a segment are contacts: they are core/contacts and
// core/segments.
package members
