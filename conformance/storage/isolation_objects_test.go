package storage_test

import (
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/storage"
)

// bucketOf returns a bucket of the organization with a name.
func bucketOf(id, name string) objects.StoredBucket {
	return objects.StoredBucket{ID: id, InUse: true, CreatedAt: start, UpdatedAt: start, Bucket: objects.Bucket{
		Endpoint: "https://s3.example.com", Region: "us-east-1", Name: name, AccessKeyID: "key", Secret: "secret",
	}}
}

// ownBuckets gives the organization a bucket for received mail.
func (o *ownedObjects) ownBuckets(t *testing.T, db *storage.DB) {
	t.Helper()
	o.bucket = core.NewID()
	must(t, db.MailBuckets(masterKey(t, 1)).SaveBucket(t.Context(), o.org, bucketOf(o.bucket, "owned")))
}

// bucketState returns the buckets of the organization.
func (o ownedObjects) bucketState(t *testing.T, db *storage.DB) []any {
	t.Helper()
	found, err := db.MailBuckets(masterKey(t, 1)).Bucket(t.Context(), o.org, o.bucket)
	must(t, err)
	return []any{found}
}

func bucketCalls(o ownedObjects, org string) map[string]storeCall {
	return map[string]storeCall{
		"BucketInUse": func(t *testing.T, db *storage.DB) (any, error) {
			return db.MailBuckets(masterKey(t, 1)).BucketInUse(t.Context(), org)
		},
		"Bucket": func(t *testing.T, db *storage.DB) (any, error) {
			return db.MailBuckets(masterKey(t, 1)).Bucket(t.Context(), org, o.bucket)
		},
		"AllBuckets": func(t *testing.T, db *storage.DB) (any, error) {
			return db.MailBuckets(masterKey(t, 1)).AllBuckets(t.Context(), org)
		},
		"HoldBuckets": func(t *testing.T, db *storage.DB) (any, error) {
			return db.MailBuckets(masterKey(t, 1)).HoldBuckets(t.Context(), org)
		},
		"SaveBucket": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.MailBuckets(masterKey(t, 1)).SaveBucket(t.Context(), org, bucketOf(o.bucket, "stolen"))
		},
		"LeaveBuckets": func(t *testing.T, db *storage.DB) (any, error) {
			return nil, db.MailBuckets(masterKey(t, 1)).LeaveBuckets(t.Context(), org)
		},
	}
}
