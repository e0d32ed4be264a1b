package objects

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// Store stores buckets. It encrypts the secret of a bucket, so that it can be decrypted only
// for the same organization and bucket.
type Store struct {
	db     *engine.DB
	sealer sending.Sealer
}

var _ objects.BucketStore = Store{}

// New returns the store of buckets on the database. sealer encrypts and decrypts secrets.
func New(db *engine.DB, sealer sending.Sealer) Store { return Store{db, sealer} }

// bucketRow is a bucket of an organization. Secret is encrypted.
type bucketRow struct {
	ID          string      `db:"id"`
	Endpoint    string      `db:"endpoint"`
	Region      string      `db:"region"`
	Name        string      `db:"bucket"`
	Prefix      string      `db:"prefix"`
	PathStyle   bool        `db:"path_style"`
	AccessKeyID string      `db:"access_key_id"`
	Secret      []byte      `db:"secret"`
	Encryption  string      `db:"encryption"`
	KMSKeyID    string      `db:"kms_key_id"`
	InUse       bool        `db:"in_use"`
	CreatedAt   engine.Time `db:"created_at"`
	UpdatedAt   engine.Time `db:"updated_at"`
}

const bucketColumns = `id, endpoint, region, bucket, prefix, path_style, access_key_id, secret, encryption, kms_key_id, in_use, created_at, updated_at`

var (
	bucketInUse = engine.RegisterPoint("mail bucket in use", `
		SELECT `+bucketColumns+` FROM mail_buckets WHERE org_id = $1 AND in_use`)
	bucketByID = engine.RegisterPoint("mail bucket by id", `
		SELECT `+bucketColumns+` FROM mail_buckets WHERE org_id = $1 AND id = $2`)
	bucketsOfOrg = engine.Register("mail buckets", `
		SELECT `+bucketColumns+` FROM mail_buckets WHERE org_id = $1 ORDER BY created_at, id`)
	// holdBuckets locks the organization's row, because it may have no bucket yet. SQLite
	// needs no lock, because it has one writer at a time.
	holdBuckets = engine.Register("hold mail buckets", `SELECT id FROM orgs WHERE id = $1 /*pg FOR NO KEY UPDATE*/`)
	saveBucket  = engine.Register("save mail bucket", `
		INSERT INTO mail_buckets (org_id, `+bucketColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
		ON CONFLICT (org_id, id) DO UPDATE SET
			endpoint = excluded.endpoint, region = excluded.region, bucket = excluded.bucket, prefix = excluded.prefix,
			path_style = excluded.path_style, access_key_id = excluded.access_key_id, secret = excluded.secret,
			encryption = excluded.encryption, kms_key_id = excluded.kms_key_id, in_use = excluded.in_use, updated_at = excluded.updated_at`)
	leaveBuckets = engine.Register("leave mail buckets", `UPDATE mail_buckets SET in_use = FALSE WHERE org_id = $1 AND in_use`)
)

// bucketSecret names the purpose for which the secrets are encrypted.
const bucketSecret = "mail bucket secret" //nolint:gosec // the name of a purpose

// sealID is the id with which a secret is encrypted. It has the organization, so that a row
// that is copied to another one does not decrypt.
func sealID(orgID, id string) string { return orgID + "/" + id }

// BucketInUse returns the bucket for new objects. See [objects.BucketStore].
func (s Store) BucketInUse(ctx context.Context, orgID string) (objects.StoredBucket, error) {
	row, err := engine.One[bucketRow](ctx, s.db, "bucket", bucketInUse, orgID)
	if err != nil {
		return objects.StoredBucket{}, err
	}
	return s.open(orgID, row)
}

// Bucket returns a bucket by its id. See [objects.BucketStore].
func (s Store) Bucket(ctx context.Context, orgID, id string) (objects.StoredBucket, error) {
	row, err := engine.One[bucketRow](ctx, s.db, "bucket", bucketByID, orgID, id)
	if err != nil {
		return objects.StoredBucket{}, err
	}
	return s.open(orgID, row)
}

// HoldBuckets returns all buckets of an organization and locks them. See
// [objects.BucketStore].
func (s Store) HoldBuckets(ctx context.Context, orgID string) ([]objects.StoredBucket, error) {
	if _, err := s.db.Exec(ctx, holdBuckets, orgID); err != nil {
		return nil, err
	}
	return s.AllBuckets(ctx, orgID)
}

// AllBuckets returns all buckets of an organization. See [objects.BucketStore].
func (s Store) AllBuckets(ctx context.Context, orgID string) ([]objects.StoredBucket, error) {
	rows, err := engine.List[bucketRow](ctx, s.db, bucketsOfOrg, orgID)
	if err != nil {
		return nil, err
	}
	all := make([]objects.StoredBucket, 0, len(rows))
	for _, row := range rows {
		b, err := s.open(orgID, row)
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return all, nil
}

// open returns the bucket of a row, with its secret decrypted.
func (s Store) open(orgID string, r bucketRow) (objects.StoredBucket, error) {
	secret, err := s.sealer.Open(bucketSecret, sealID(orgID, r.ID), r.Secret)
	if err != nil {
		return objects.StoredBucket{}, fmt.Errorf("secret of a mail bucket: %w", err)
	}
	return objects.StoredBucket{
		ID: r.ID, InUse: r.InUse, CreatedAt: r.CreatedAt.Time(), UpdatedAt: r.UpdatedAt.Time(),
		Bucket: objects.Bucket{
			Endpoint: r.Endpoint, Region: r.Region, Name: r.Name, Prefix: r.Prefix, PathStyle: r.PathStyle,
			AccessKeyID: r.AccessKeyID, Secret: string(secret), Encryption: objects.Encryption(r.Encryption), KMSKeyID: r.KMSKeyID,
		},
	}, nil
}

// SaveBucket inserts or replaces a bucket. A replaced bucket keeps its time of creation.
func (s Store) SaveBucket(ctx context.Context, orgID string, b objects.StoredBucket) error {
	sealed, err := s.sealer.Seal(bucketSecret, sealID(orgID, b.ID), []byte(b.Secret))
	if err != nil {
		return fmt.Errorf("secret of a mail bucket: %w", err)
	}
	_, err = s.db.Exec(ctx, saveBucket, orgID, b.ID, b.Endpoint, b.Region, b.Name, b.Prefix, b.PathStyle, b.AccessKeyID, sealed,
		string(b.Encryption), b.KMSKeyID, b.InUse, engine.At(b.CreatedAt), engine.At(b.UpdatedAt))
	return engine.Announced(ctx, s.db, orgID, err)
}

// LeaveBuckets marks all buckets of an organization as not in use.
func (s Store) LeaveBuckets(ctx context.Context, orgID string) error {
	_, err := s.db.Exec(ctx, leaveBuckets, orgID)
	return engine.Announced(ctx, s.db, orgID, err)
}
