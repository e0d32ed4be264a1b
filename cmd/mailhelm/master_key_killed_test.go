package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// rotatedKeys is the number of stored secrets. The command seals 200 of them in a transaction.
const rotatedKeys = 6000

// TestAKilledRotationOfTheMasterKeyIsContinued kills the command that rotates the master key when
// it has sealed some of the secrets. Before and after, servers with either key must open all of
// them. The command, run again, must finish, and then the new key alone must open all.
func TestAKilledRotationOfTheMasterKeyIsContinued(t *testing.T) {
	t.Parallel()
	for _, postgres := range []bool{false, true} {
		t.Run(fmt.Sprintf("postgres %t", postgres), func(t *testing.T) {
			t.Parallel()
			s := newShell(t, postgres).migrate()
			old := filepath.Join(enginetest.Folder(t), "old.key")
			next := filepath.Join(filepath.Dir(old), "new.key")
			db, err := storage.Open(t.Context(), s.database)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close() //nolint:errcheck // nothing depends on it
			fillSecrets(t, db, old)

			command := append([]string{"admin", "master-key", "rotate", "--new-key-file", next, "--master-key-file", old, "--stopped", "--json"}, s.where...)
			p := launch(t, nil, command...)
			if opened := killHalfway(t, p, db, next); opened >= rotatedKeys {
				t.Fatalf("%d secrets were sealed with the new key when the command was killed", opened)
			}
			for _, file := range []string{old, next} {
				if n := openWith(t, db, file, true); n != rotatedKeys {
					t.Errorf("a server with %s opens %d of %d secrets", filepath.Base(file), n, rotatedKeys)
				}
			}
			if r := runWith(t, nil, command...); r.status != 0 || !strings.Contains(r.stdout, fmt.Sprintf(`"values": %d`, rotatedKeys)) {
				t.Fatalf("the command again: status %d: %s%s", r.status, r.stdout, r.stderr)
			}
			s.refuses("wait until 24 hours have passed", "master-key", "retire", "--master-key-file", next)
			s.mustRun("org", "create", "keeper")
			s.mustRun("retention", "set", "keeper", "replay", "7")
			s.refuses("wait until 168 hours have passed", "master-key", "retire", "--master-key-file", next)
			s.mustRun("master-key", "retire", "--master-key-file", next, "--now")
			if n := openWith(t, db, next, false); n != rotatedKeys {
				t.Errorf("the new key opens %d of %d secrets", n, rotatedKeys)
			}
			key, err := signing.ReadMasterKey(old)
			if err == nil {
				err = key.Reload(t.Context(), db.MasterKeys())
			}
			if err == nil {
				t.Error("the former key still opens the secrets")
			}
		})
	}
}

// fillSecrets stores secrets that a new master key sealed, which it writes into a file.
func fillSecrets(t *testing.T, db *storage.DB, file string) {
	t.Helper()
	key, err := config.Config{MasterKeyPath: file}.OpenMasterKey()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	err = db.InTx(t.Context(), func(ctx context.Context) error {
		for range rotatedKeys {
			id := core.NewID()
			sealed, err := key.Seal("signing key", id, []byte("secret"))
			if err != nil {
				return err
			}
			if _, err := db.SigningKeys().InsertSigningKey(ctx, signing.Key{ID: id, Algorithm: "ES256", Sealed: sealed, CreatedAt: now, RetiredAt: &now}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// openWith returns how many of the secrets open with the key in a file, and, if follows is true,
// with those that it leads to.
func openWith(t *testing.T, db *storage.DB, file string, follows bool) int {
	t.Helper()
	key, err := signing.ReadMasterKey(file)
	if err == nil && follows {
		err = key.Reload(t.Context(), db.MasterKeys())
	}
	if err != nil {
		return 0 // the command has not created the file yet
	}
	stored, err := db.SigningKeys().SigningKeys(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, k := range stored {
		if _, err := key.Open("signing key", k.ID, k.Sealed); err == nil {
			n++
		}
	}
	return n
}

// killHalfway kills the command when the key in a file has sealed the first of the secrets. It
// returns how many it has sealed by then.
func killHalfway(t *testing.T, p *process, db *storage.DB, file string) int {
	t.Helper()
	go io.Copy(io.Discard, p.stdout) //nolint:errcheck // so that the command does not wait for a reader
	for deadline := time.Now().Add(startTimeout); !isFirstSealed(t, db, file); {
		if time.Now().After(deadline) {
			t.Fatal("the command seals nothing")
		}
	}
	p.signal(syscall.SIGKILL)
	if !p.waits() {
		t.Fatal("the command outlives SIGKILL")
	}
	return openWith(t, db, file, false)
}

// isFirstSealed reports whether the key in a file, which may not exist yet, has sealed the
// secret that the command seals first.
func isFirstSealed(t *testing.T, db *storage.DB, file string) bool {
	t.Helper()
	key, err := signing.ReadMasterKey(file)
	if err != nil {
		return false
	}
	var id string
	var sealed []byte
	if err := db.Reader().QueryRowContext(t.Context(), "SELECT id, sealed FROM signing_keys ORDER BY id LIMIT 1").Scan(&id, &sealed); err != nil {
		t.Fatal(err)
	}
	_, err = key.Open("signing key", id, sealed)
	return err == nil
}
