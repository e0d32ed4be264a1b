package objects

import (
	"context"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
)

// Deposit is an object that another service, such as Amazon SES, put into the bucket of an
// organization. The caller closes Body.
type Deposit struct {
	Body io.ReadCloser
	// Size is the number of bytes of Body, or -1 if the server does not say it.
	Size int64
	// Encrypted is true if the service encrypted the object before it sent it to the bucket, so
	// that Body is not readable. Encryption by the server of the bucket is not meant.
	Encrypted bool
}

// DepositOpener opens deposits in buckets.
type DepositOpener interface {
	// OpenDeposit opens the object with a name, which is its whole key in the bucket. It fails
	// with not_found if there is no such object, and with ErrUnavailable like a [Store].
	OpenDeposit(ctx context.Context, b Bucket, name string) (Deposit, error)
}

// Deposits finds deposits in the buckets of organizations.
type Deposits struct {
	Buckets BucketStore
	Opener  DepositOpener
}

// maxName is the length of the longest key of S3, in bytes.
const maxName = 1024

// Open opens a deposit in a bucket that the organization has proven, now or earlier: the bucket
// in use before others, and later ones before earlier ones, if several servers have a bucket of
// this name. It fails with not_found if the organization has no such bucket, or the bucket no
// such object.
//
// Several organizations can share a bucket and its access key, so the objects of received mail
// that a [Store] keeps are never opened here, whatever the prefix of the bucket is. Open fails
// with core.CodeValidationFailed for their names, and for names that are not valid.
func (d Deposits) Open(ctx context.Context, orgID, bucket, name string) (Deposit, error) {
	if err := checkName(name); err != nil {
		return Deposit{}, err
	}
	all, err := d.Buckets.AllBuckets(ctx, orgID)
	if err != nil {
		return Deposit{}, err
	}
	var found *StoredBucket
	for _, b := range slices.Backward(all) {
		if b.Name == bucket && (found == nil || b.InUse) {
			found = &b
		}
	}
	if found == nil {
		return Deposit{}, core.NotFound("bucket")
	}
	return d.Opener.OpenDeposit(ctx, found.Bucket, name)
}

func checkName(name string) error {
	segments := strings.Split(name, "/")
	if name == "" || len(name) > maxName || !utf8.ValidString(name) || slices.Contains(segments, ".") || slices.Contains(segments, "..") {
		return core.Invalid("key", "must be the key of an object: 1 to 1,024 bytes without the parts . and ..")
	}
	for i := range segments {
		if isMail(segments[i:]) {
			return core.Invalid("key", "must not be the key of an object that Mailhelm stored")
		}
	}
	return nil
}

// isMail reports whether a key with these segments is one of received mail: of [RawKey],
// [TextKey], [HTMLKey] or [AttachmentKey].
func isMail(segments []string) bool {
	if CheckKey(strings.Join(segments, "/")) != nil {
		return false
	}
	switch part := segments[2]; part {
	case "raw.eml", "text", "html":
		return len(segments) == 3
	default:
		return part == "attachments"
	}
}
