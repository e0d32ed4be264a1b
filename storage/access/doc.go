// Package access stores API keys, OAuth clients, grants with their codes and tokens, and
// the audit log. Secrets reach it as hashes only. [FollowChanges] reports the
// revocations that other processes commit.
package access
