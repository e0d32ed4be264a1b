// Package access stores API keys, OAuth clients, grants with their authorization codes and
// tokens, and the audit log. It receives secrets only as hashes. [FollowChanges] reports
// the revocations that other processes commit.
package access
