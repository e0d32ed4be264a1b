package s3

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/mailhelm/mailhelm/core/objects"
)

// maxPage is the largest page of ListObjectsV2.
const maxPage = 1000

// List returns keys of objects. See [objects.Store]. A position is the name of an object below
// the prefix of the bucket, in the order of UTF-8. The access key needs s3:ListBucket, which the
// check of a bucket demands.
func (s *store) List(ctx context.Context, orgID string, before time.Time, after string, limit int) ([]string, string, error) {
	in := &s3.ListObjectsV2Input{
		Bucket: &s.bucket.Name, Prefix: s.name(orgID + "/"), MaxKeys: aws.Int32(int32(min(limit, maxPage))),
	}
	if after != "" {
		in.StartAfter = s.name(after)
	}
	bounded, cancel := s.config.bounded(ctx, 0)
	defer cancel()
	out, err := s.client.ListObjectsV2(bounded, in)
	if err != nil {
		return nil, "", failureOf(bounded, ctx, err)
	}
	var keys []string
	last := ""
	for _, object := range out.Contents {
		last = strings.TrimPrefix(aws.ToString(object.Key), s.bucket.Prefix)
		if object.LastModified != nil && object.LastModified.Before(before) && objects.CheckKey(last) == nil {
			keys = append(keys, last)
		}
	}
	if !aws.ToBool(out.IsTruncated) {
		last = ""
	}
	return keys, last, nil
}
