package s3

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/mailhelm/mailhelm/core/objects"
)

// clientEncryption has the names of metadata with which the encryption clients of Amazon S3 keep
// the encrypted key of an object. The SDK returns names in lower case.
var clientEncryption = []string{"x-amz-key", "x-amz-key-v2", "x-amz-cek-alg"}

// ListDeposits returns objects that another service put into a bucket; see
// [objects.DepositOpener]. The access key needs s3:ListBucket.
func (b *Buckets) ListDeposits(ctx context.Context, bucket objects.Bucket, prefix, after string, limit int) ([]objects.Deposited, string, error) {
	in := &s3.ListObjectsV2Input{Bucket: &bucket.Name, Prefix: &prefix, MaxKeys: aws.Int32(int32(min(limit, maxPage)))}
	if after != "" {
		in.StartAfter = &after
	}
	bounded, cancel := b.config.bounded(ctx, 0)
	defer cancel()
	out, err := b.open("", bucket).client.ListObjectsV2(bounded, in)
	if err != nil {
		return nil, "", failureOf(bounded, ctx, err)
	}
	all := make([]objects.Deposited, len(out.Contents))
	for i, object := range out.Contents {
		all[i] = objects.Deposited{Name: aws.ToString(object.Key), ETag: aws.ToString(object.ETag), Size: aws.ToInt64(object.Size)}
	}
	if len(all) == 0 || !aws.ToBool(out.IsTruncated) {
		return all, "", nil
	}
	return all, all[len(all)-1].Name, nil
}

// OpenDeposit opens an object that another service put into a bucket; see
// [objects.DepositOpener].
func (b *Buckets) OpenDeposit(ctx context.Context, bucket objects.Bucket, name string) (objects.Deposit, error) {
	body, out, err := b.open("", bucket).get(ctx, &name)
	if err != nil {
		return objects.Deposit{}, err
	}
	d := objects.Deposit{Body: body, Size: -1}
	if out.ContentLength != nil {
		d.Size = aws.ToInt64(out.ContentLength)
	}
	for _, member := range clientEncryption {
		if out.Metadata[member] != "" {
			d.Encrypted = true
		}
	}
	return d, nil
}
