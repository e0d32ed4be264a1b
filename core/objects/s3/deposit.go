package s3

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/mailhelm/mailhelm/core/objects"
)

// clientEncryption has the names of metadata with which the encryption clients of Amazon S3 keep
// the encrypted key of an object. The SDK returns names in lower case.
var clientEncryption = []string{"x-amz-key", "x-amz-key-v2", "x-amz-cek-alg"}

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
