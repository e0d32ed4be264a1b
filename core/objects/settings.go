package objects

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// StoredBucket is a bucket in which an organization keeps its mail or kept it earlier. Its
// id is the id of the store; see Store.ID.
type StoredBucket struct {
	ID string
	Bucket
	// InUse says whether new objects are stored in it. An organization has at most one such
	// bucket; without one, new objects are files.
	InUse                bool
	CreatedAt, UpdatedAt time.Time
}

// BucketStore stores the buckets of organizations and encrypts their secrets. Each method
// takes part in the transaction of its context.
type BucketStore interface {
	// BucketInUse returns the bucket for new objects. It fails with not_found if there is
	// none.
	BucketInUse(ctx context.Context, orgID string) (StoredBucket, error)
	// Bucket returns a bucket by its id. It fails with not_found if the organization has no
	// such bucket.
	Bucket(ctx context.Context, orgID, id string) (StoredBucket, error)
	// AllBuckets returns all buckets, also those not in use, the oldest first.
	AllBuckets(ctx context.Context, orgID string) ([]StoredBucket, error)
	// HoldBuckets is AllBuckets, and locks the buckets until the transaction ends, also if there
	// are none.
	HoldBuckets(ctx context.Context, orgID string) ([]StoredBucket, error)
	// SaveBucket stores a bucket and replaces one with the same id.
	SaveBucket(ctx context.Context, orgID string, b StoredBucket) error
	// LeaveBuckets marks all buckets as not in use.
	LeaveBuckets(ctx context.Context, orgID string) error
}

// Opener opens stores in buckets.
type Opener interface {
	// Open returns the store with an id in a bucket. It makes no connection.
	Open(id string, b Bucket) Store
	// Download is a [Downloader] for links of these stores.
	Download(ctx context.Context, url string, limit int) ([]byte, error)
}

// SettingsConfig configures [Settings]. All fields except Forget are required.
type SettingsConfig struct {
	Buckets BucketStore
	Opener  Opener
	// Files returns the store of an organization in the data folder. It fails if the folder
	// cannot be opened.
	Files      func(orgID string) (Store, error)
	Transactor core.Transactor
	// Networks says whether the operator allows endpoints in private networks.
	Networks bool
	Clock    core.Clock
	// Record adds an entry to the organization's audit log, in the transaction of ctx.
	Record func(ctx context.Context, orgID, action string, detail map[string]any) error
	// Forget makes this process use the change at once; nil leaves that to the time that
	// settings are cached.
	Forget func(orgID string)
}

// Settings reads and changes where organizations keep their mail. Callers check the
// permission first.
type Settings struct{ SettingsConfig }

// NewSettings returns Settings.
func NewSettings(cfg SettingsConfig) Settings { return Settings{cfg} }

// Of returns the bucket for new objects of an organization; false means that they are files.
func (s Settings) Of(ctx context.Context, orgID string) (StoredBucket, bool, error) {
	b, err := s.Buckets.BucketInUse(ctx, orgID)
	if core.IsNotFound(err) {
		return StoredBucket{}, false, nil
	}
	return b, err == nil, err
}

// UseBucket tests a bucket and stores it as the place of new objects. An empty secret keeps
// the stored one if the endpoint and the access key are those of the bucket in use. Objects
// in other places stay there. If the same place was used earlier, its settings are replaced,
// so that its objects are found with the new access key.
//
// It fails with core.CodeValidationFailed for invalid settings, and for a bucket that fails
// the test; the message then says which step failed, and nothing is stored. It calls the
// bucket, so it must not run in a transaction.
func (s Settings) UseBucket(ctx context.Context, orgID string, b Bucket) (StoredBucket, error) {
	before, known, err := s.Of(ctx, orgID)
	if err != nil {
		return StoredBucket{}, err
	}
	if b.Secret == "" && known {
		// The comparison needs the endpoint in its stored form; a missing secret is refused
		// below.
		if checked, _ := b.Checked(s.Networks); before.KeepsSecret(checked) {
			b.Secret = before.Secret
		}
	}
	if b, err = b.Checked(s.Networks); err != nil {
		return StoredBucket{}, err
	}
	if failed, ok := Failed(Prove(ctx, Within(orgID, s.Opener.Open("", b)), orgID, s.Clock(), s.Opener.Download)); ok {
		return StoredBucket{}, failed.refusal()
	}
	var after StoredBucket
	err = s.Transactor.InTx(ctx, func(ctx context.Context) error {
		after, err = s.save(ctx, orgID, b)
		return err
	})
	if err != nil {
		return StoredBucket{}, err
	}
	s.forget(orgID)
	return after, nil
}

// save stores the bucket and the entry in the audit log.
func (s Settings) save(ctx context.Context, orgID string, b Bucket) (StoredBucket, error) {
	all, err := s.Buckets.HoldBuckets(ctx, orgID)
	if err != nil {
		return StoredBucket{}, err
	}
	now := s.Clock()
	after := StoredBucket{ID: core.NewID(), Bucket: b, InUse: true, CreatedAt: now, UpdatedAt: now}
	secretChanged := true
	for _, one := range all {
		if one.IsSamePlace(b) {
			after.ID, after.CreatedAt, secretChanged = one.ID, one.CreatedAt, one.Secret != b.Secret
		}
	}
	if err := s.Buckets.LeaveBuckets(ctx, orgID); err != nil {
		return StoredBucket{}, err
	}
	if err := s.Buckets.SaveBucket(ctx, orgID, after); err != nil {
		return StoredBucket{}, err
	}
	return after, s.Record(ctx, orgID, "org.mail_storage_updated", map[string]any{
		"kind": "s3", "store_id": after.ID, "endpoint": b.Endpoint, "region": b.Region, "bucket": b.Name, "prefix": b.Prefix,
		"access_key_id": b.AccessKeyID, "encryption": string(b.Encryption), "secret_changed": secretChanged,
	})
}

// UseFiles makes new objects of an organization files again. Objects in buckets stay there.
// If they are files already, it changes nothing.
func (s Settings) UseFiles(ctx context.Context, orgID string) error {
	err := s.Transactor.InTx(ctx, func(ctx context.Context) error {
		if _, known, err := s.Of(ctx, orgID); err != nil || !known {
			return err
		}
		if err := s.Buckets.LeaveBuckets(ctx, orgID); err != nil {
			return err
		}
		return s.Record(ctx, orgID, "org.mail_storage_updated", map[string]any{"kind": FilesID})
	})
	if err == nil {
		s.forget(orgID)
	}
	return err
}

func (s Settings) forget(orgID string) {
	if s.Forget != nil {
		s.Forget(orgID)
	}
}

// Test tests the place of new objects with an object that it deletes again. Links to files
// are not tested, because they lead to this server itself.
func (s Settings) Test(ctx context.Context, orgID string) ([]Finding, error) {
	b, known, err := s.Of(ctx, orgID)
	if err != nil {
		return nil, err
	}
	if !known {
		files, err := s.Files(orgID)
		if err != nil {
			return nil, err
		}
		return Prove(ctx, files, orgID, s.Clock(), nil), nil
	}
	return Prove(ctx, Within(orgID, s.Opener.Open(b.ID, b.Bucket)), orgID, s.Clock(), s.Opener.Download), nil
}
