package masterkey

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestOpenMakesAKeyOnlyBesideAnEmptyDatabase checks that a server creates its first key, and
// neither creates nor accepts another one when the database has data of the first.
func TestOpenMakesAKeyOnlyBesideAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		first := config.Config{DataDir: t.TempDir(), Clock: time.Now}
		key, err := Open(t.Context(), first, db.SigningKeys(), db.MasterKeys())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := signing.NewKeys(t.Context(), db.SigningKeys(), key, time.Now); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(t.Context(), first, db.SigningKeys(), db.MasterKeys()); err != nil {
			t.Errorf("the same key again: %v", err)
		}
		other := config.Config{DataDir: t.TempDir(), Clock: time.Now}
		if _, err := Open(t.Context(), other, db.SigningKeys(), db.MasterKeys()); err == nil || !strings.Contains(err.Error(), "copy master.key there") {
			t.Errorf("without a key: %v", err)
		}
		if _, err := os.Stat(other.MasterKeyFile()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a key was written beside a used database: %v", err)
		}
		other.MasterKey = strings.Repeat("ab", 32)
		if _, err := Open(t.Context(), other, db.SigningKeys(), db.MasterKeys()); err == nil || !strings.Contains(err.Error(), "in MAILHELM_MASTER_KEY is not that of this database") {
			t.Errorf("with another key: %v", err)
		}
	})
}
