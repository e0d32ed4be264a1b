package objects

import "context"

// VersionStore is a [Store] that may keep former versions of deleted objects, such as a bucket
// with versioning.
type VersionStore interface {
	Store
	// DeleteVersions deletes objects as Delete does, and all their former versions. After a
	// failure it may be repeated, and then also deletes the versions that it has left.
	DeleteVersions(ctx context.Context, keys ...string) error
}

// DeleteVersions deletes objects for good: with their former versions, if the store keeps any.
func DeleteVersions(ctx context.Context, s Store, keys ...string) error {
	if versions, ok := s.(VersionStore); ok {
		return versions.DeleteVersions(ctx, keys...)
	}
	return s.Delete(ctx, keys...)
}
