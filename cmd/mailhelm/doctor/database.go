package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// database checks the database and what it stores: the signing keys, the sending accounts and
// the work that waits. It also checks the clock against the stored data. It does not lock the data
// folder, so a server may run at the same time.
func (e *examination) database(ctx context.Context) {
	const name = "database"
	if e.cfg.DatabaseURL == "" {
		// Test first whether the SQLite file exists, because opening the database would
		// create it.
		path := e.cfg.DatabaseFile()
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			e.add(name, OK, path+" does not exist yet; the first start creates it", "")
			e.clock(time.Time{})
			return
		}
	}
	db, err := storage.Open(ctx, engine.Config{
		URL: e.cfg.DatabaseURL, DirectURL: e.cfg.DatabaseDirectURL, ReplicaURL: e.cfg.DatabaseReplicaURL, ReplicaLag: e.cfg.ReplicaLag, Dir: e.cfg.DataDir, CallerWait: e.cfg.CallerWait, Clock: e.cfg.Clock, Logger: e.cfg.Log,
	})
	if err != nil {
		e.add(name, Fail, config.DatabaseError(e.cfg.DatabaseURL, err).Error(), "Check --database-url and --data, and that the server accepts connections from here.")
		return
	}
	defer db.Close() //nolint:errcheck // nothing was written
	if !e.pooler(ctx, db) {
		return
	}
	e.replica(ctx, db)
	missing, err := db.MissingMigrations(ctx)
	switch {
	case err != nil:
		e.add(name, Fail, "the migrations cannot be read: "+err.Error(), "")
	case missing > 0 && e.cfg.NoMigrate:
		e.add(name, Fail, fmt.Sprintf("%s answers, but %d migrations are missing", db.Engine(), missing), "Run 'mailhelm migrate up', or leave --no-migrate out.")
	case missing > 0:
		e.add(name, Warn, fmt.Sprintf("%s answers, but %d migrations are missing", db.Engine(), missing), "The next start applies them; 'mailhelm migrate up' does so now.")
	default:
		e.add(name, OK, db.Engine()+" answers; its schema is up to date", "")
		e.contents(ctx, db)
	}
}

// contents checks what a database with the current schema stores: the signing keys and the
// sending accounts. It also checks that the clock is not before the creation of the newest
// signing key.
func (e *examination) contents(ctx context.Context, db *storage.DB) {
	keys, err := db.SigningKeys().SigningKeys(ctx)
	if err != nil {
		e.add("signing keys", Fail, err.Error(), "")
		return
	}
	if len(keys) == 0 {
		e.clock(time.Time{})
	} else {
		e.signingKeys(ctx, keys, db.MasterKeys())
		e.clock(keys[0].CreatedAt)
	}
	e.sendingAccounts(ctx, db)
	e.databaseClock(ctx, db)
	e.backlog(ctx, db)
	e.partitions(ctx, db)
}

// signingKeys checks that the master key decrypts the stored signing keys.
func (e *examination) signingKeys(ctx context.Context, stored []signing.Key, keys signing.MasterKeyStore) {
	master, err := e.cfg.ReadMasterKey()
	if err != nil {
		return // reported with the master key
	}
	if err = master.Reload(ctx, keys); err == nil {
		err = signing.CheckKeys(stored, master)
	}
	if err != nil {
		e.add("signing keys", Fail, err.Error(), "Use the master key that this database was created with; it is in the same backup.")
		return
	}
	e.add("signing keys", OK, "can be decrypted with the master key", "")
}

// programDate is a date before this program was written. A clock that shows an earlier time
// is wrong.
var programDate = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// clock adds a Fail if the machine's clock is before newest, the creation of the newest
// signing key, or before programDate. Tokens issued with a slow clock would not be valid.
func (e *examination) clock(newest time.Time) {
	now := e.cfg.Clock()
	known := programDate
	if newest.After(known) {
		known = newest
	}
	if now.Before(known) {
		e.add("clock", Fail, fmt.Sprintf("the time of this machine is %s, which is before %s", now.Format(time.RFC3339), known.Format(time.RFC3339)), "Set the clock, and run NTP.")
		return
	}
	e.add("clock", OK, now.Format(time.RFC3339), "")
}
