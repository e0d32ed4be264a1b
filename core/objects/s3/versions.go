package s3

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/mailhelm/mailhelm/core/objects"
	"golang.org/x/sync/errgroup"
)

var _ objects.VersionStore = (*store)(nil)

// DeleteVersions deletes objects with all their versions. See [objects.VersionStore]. In a bucket
// without versioning it needs no further permission than Delete.
func (s *store) DeleteVersions(ctx context.Context, keys ...string) error {
	for _, key := range keys {
		if err := objects.CheckKey(key); err != nil {
			return err
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(deletions)
	for _, key := range keys {
		group.Go(func() error {
			marked, err := s.deleteVersion(ctx, s.name(key), nil)
			if err != nil || !marked {
				return err
			}
			return s.deleteAllVersions(ctx, s.name(key))
		})
	}
	return group.Wait()
}

// deleteVersion deletes a version of an object. With nil it deletes the object, and reports whether
// the bucket has put a marker in its place and kept its versions.
func (s *store) deleteVersion(ctx context.Context, name, version *string) (marked bool, err error) {
	bounded, cancel := s.config.bounded(ctx, 0)
	defer cancel()
	out, err := s.client.DeleteObject(bounded, &s3.DeleteObjectInput{Bucket: &s.bucket.Name, Key: name, VersionId: version})
	if isMissing(err) {
		return false, nil
	}
	if err != nil {
		return false, failureOf(bounded, ctx, err)
	}
	return aws.ToBool(out.DeleteMarker), nil
}

// deleteAllVersions deletes the versions and markers of an object. It lists again until it finds
// none, so the place in a listing need not survive the deletions.
func (s *store) deleteAllVersions(ctx context.Context, name *string) error {
	for {
		versions, err := s.versions(ctx, name)
		if err != nil || len(versions) == 0 {
			return err
		}
		for _, version := range versions {
			if _, err := s.deleteVersion(ctx, name, version); err != nil {
				return err
			}
		}
	}
}

// versions returns the ids of the first versions and markers of an object. In a listing they come
// before those of objects with longer names.
func (s *store) versions(ctx context.Context, name *string) ([]*string, error) {
	bounded, cancel := s.config.bounded(ctx, 0)
	defer cancel()
	out, err := s.client.ListObjectVersions(bounded, &s3.ListObjectVersionsInput{Bucket: &s.bucket.Name, Prefix: name})
	if err != nil {
		return nil, failureOf(bounded, ctx, err)
	}
	var ids []*string
	for _, v := range out.Versions {
		if aws.ToString(v.Key) == *name {
			ids = append(ids, v.VersionId)
		}
	}
	for _, m := range out.DeleteMarkers {
		if aws.ToString(m.Key) == *name {
			ids = append(ids, m.VersionId)
		}
	}
	return ids, nil
}
