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

// Deposited is an entry in the list of what is in a bucket.
type Deposited struct {
	// Name is the whole key in the bucket.
	Name string
	// ETag changes when the object is replaced by another one.
	ETag string
	Size int64
}

// DepositOpener opens deposits in buckets.
type DepositOpener interface {
	// ListDeposits returns the objects whose names begin with the prefix, in the order of UTF-8: at
	// most limit, after a name. next is the name to continue after, "" at the end. It fails like a
	// [Store].
	ListDeposits(ctx context.Context, b Bucket, prefix, after string, limit int) (all []Deposited, next string, err error)
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
	found, err := d.bucket(ctx, orgID, bucket)
	if err != nil {
		return Deposit{}, err
	}
	return d.Opener.OpenDeposit(ctx, found, name)
}

// bucket returns the bucket with a name that Open and List use.
func (d Deposits) bucket(ctx context.Context, orgID, name string) (Bucket, error) {
	all, err := d.Buckets.AllBuckets(ctx, orgID)
	if err != nil {
		return Bucket{}, err
	}
	var found *StoredBucket
	for _, b := range slices.Backward(all) {
		if b.Name == name && (found == nil || b.InUse) {
			found = &b
		}
	}
	if found == nil {
		return Bucket{}, core.NotFound("bucket")
	}
	return found.Bucket, nil
}

// List returns the deposits in a bucket of the organization that Open opens and whose names begin
// with the prefix: those of the next limit objects after a name. next is the name to continue after,
// "" at the end. It fails with not_found if the organization has no such bucket.
func (d Deposits) List(ctx context.Context, orgID, bucket, prefix, after string, limit int) (all []Deposited, next string, err error) {
	found, err := d.bucket(ctx, orgID, bucket)
	if err != nil {
		return nil, "", err
	}
	all, next, err = d.Opener.ListDeposits(ctx, found, prefix, after, limit)
	return slices.DeleteFunc(all, func(o Deposited) bool { return checkName(o.Name) != nil }), next, err
}

func checkName(name string) error {
	segments := strings.Split(name, "/")
	if name == "" || len(name) > maxName || !utf8.ValidString(name) || slices.Contains(segments, ".") || slices.Contains(segments, "..") {
		return core.Invalid("key", "must be the key of an object: 1 to 1,024 bytes without the parts . and ..")
	}
	for i := range segments {
		if isOwn(segments[i:]) {
			return core.Invalid("key", "must not be the key of an object that Mailhelm stored")
		}
	}
	return nil
}

// isOwn reports whether a key with these segments is one of a [Store]: of [RawKey], [TextKey],
// [HTMLKey], [AttachmentKey] or [AssetKey].
func isOwn(segments []string) bool {
	if CheckKey(strings.Join(segments, "/")) != nil {
		return false
	}
	switch part := segments[2]; part {
	case "raw.eml", "text", "html", assetPart:
		return len(segments) == 3
	default:
		return part == "attachments"
	}
}
