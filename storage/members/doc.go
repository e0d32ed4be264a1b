// Package members stores organizations, their members and their invitations.
package members
