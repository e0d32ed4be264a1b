package signing

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// masterKeyStore is [signing.MasterKeyStore].
type masterKeyStore struct{ db *engine.DB }

// NewMasterKeys returns the store of the succession of master keys.
func NewMasterKeys(db *engine.DB) signing.MasterKeyStore { return masterKeyStore{db} }

// keyRecordRow is a record of a master key.
type keyRecordRow struct {
	Purpose   string      `db:"purpose"`
	KeyID     string      `db:"key_id"`
	Sealed    []byte      `db:"sealed"`
	CreatedAt engine.Time `db:"created_at"`
}

var (
	keyRecords      = engine.Register("master key records", `SELECT purpose, key_id, sealed, created_at FROM installation_keys ORDER BY purpose, key_id`)
	insertKeyRecord = engine.Register("insert master key record", `
		INSERT INTO installation_keys (purpose, key_id, sealed, created_at) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING`)
	deleteKeyRecord = engine.Register("delete master key record", `DELETE FROM installation_keys WHERE purpose = $1 AND key_id = $2`)
)

func (s masterKeyStore) KeyRecords(ctx context.Context) ([]signing.KeyRecord, error) {
	return engine.ListAs(ctx, s.db, func(r keyRecordRow) signing.KeyRecord {
		return signing.KeyRecord{Role: signing.KeyRole(r.Purpose), KeyID: r.KeyID, Sealed: r.Sealed, CreatedAt: r.CreatedAt.Time()}
	}, keyRecords)
}

func (s masterKeyStore) InsertKeyRecord(ctx context.Context, r signing.KeyRecord) error {
	inserted, err := s.db.Exec(ctx, insertKeyRecord, string(r.Role), r.KeyID, r.Sealed, engine.At(r.CreatedAt))
	if err == nil && inserted == 0 {
		err = core.Conflict("Another command rotates the master key.", "Wait until it has ended.")
	}
	return err
}

func (s masterKeyStore) DeleteKeyRecord(ctx context.Context, role signing.KeyRole, keyID string) error {
	_, err := s.db.Exec(ctx, deleteKeyRecord, string(role), keyID)
	return err
}
