package signing_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/core/signing"
)

func masterKey(t testing.TB) signing.MasterKey {
	t.Helper()
	key, err := signing.LoadMasterKey(filepath.Join(t.TempDir(), "master.key"))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestSealedValueOpensOnlyInItsPlace(t *testing.T) {
	t.Parallel()
	key, plain := masterKey(t), []byte("private key")
	sealed, err := key.Seal("signing key", "id-1", plain)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(sealed, plain) {
		t.Fatal("the sealed value holds the plain one")
	}
	if got, err := key.Open("signing key", "id-1", sealed); err != nil || !bytes.Equal(got, plain) {
		t.Fatalf("got %q, %v", got, err)
	}
	again, _ := key.Seal("signing key", "id-1", plain)
	if bytes.Equal(again, sealed) {
		t.Error("two seals of one value are equal: the nonce is not fresh")
	}
	changed := bytes.Clone(sealed)
	changed[len(changed)-1] ^= 1
	for name, open := range map[string]func() ([]byte, error){
		"other id":      func() ([]byte, error) { return key.Open("signing key", "id-2", sealed) },
		"other purpose": func() ([]byte, error) { return key.Open("webhook", "id-1", sealed) },
		"other key":     func() ([]byte, error) { return masterKey(t).Open("signing key", "id-1", sealed) },
		"no key":        func() ([]byte, error) { return signing.MasterKey{}.Open("signing key", "id-1", sealed) },
		"changed":       func() ([]byte, error) { return key.Open("signing key", "id-1", changed) },
		"cut short":     func() ([]byte, error) { return key.Open("signing key", "id-1", sealed[:10]) },
		"empty":         func() ([]byte, error) { return key.Open("signing key", "id-1", nil) },
		"other version": func() ([]byte, error) { return key.Open("signing key", "id-1", append([]byte{2}, sealed[1:]...)) },
	} {
		if got, err := open(); err == nil {
			t.Errorf("%s: opened to %q", name, got)
		}
	}
	if _, err := (signing.MasterKey{}).Seal("signing key", "id-1", plain); err == nil {
		t.Error("sealed without a master key")
	}
}

func TestLoadMasterKeyMakesOneFileThatOnlyItsOwnerReads(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "master.key")
	var wg sync.WaitGroup
	sealed := make([][]byte, 8)
	for i := range sealed {
		wg.Go(func() {
			key, err := signing.LoadMasterKey(path)
			if err != nil {
				t.Error(err)
				return
			}
			sealed[i], _ = key.Seal("p", "i", []byte("x"))
		})
	}
	wg.Wait()
	key, err := signing.LoadMasterKey(path)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range sealed {
		if _, err := key.Open("p", "i", s); err != nil {
			t.Errorf("start %d had another key", i)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%d files are left in the folder", len(left))
	}
}

func TestLoadMasterKeyRefusesABadFile(t *testing.T) {
	t.Parallel()
	const good = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	for name, c := range map[string]struct {
		text string
		mode os.FileMode
		want string // text that the error must contain; "" if the file must be accepted
	}{
		"good":             {" " + good + "\n", 0o600, ""},
		"read only":        {good, 0o400, ""},
		"readable by all":  {good, 0o644, "0600"},
		"readable by some": {good, 0o640, "0600"},
		"empty":            {"", 0o600, "32 bytes"},
		"short":            {good[:62], 0o600, "32 bytes"},
		"not hexadecimal":  {"canary" + good[6:], 0o600, "hexadecimal"},
	} {
		path := filepath.Join(t.TempDir(), "master.key")
		if err := os.WriteFile(path, []byte(c.text), c.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		_, err := signing.LoadMasterKey(path)
		if (c.want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && (strings.Contains(err.Error(), "canary") || strings.Contains(err.Error(), good[10:20])) {
			t.Errorf("%s: the error shows the key: %v", name, err)
		}
	}
}
