package grants_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/connecting/grants"
	"github.com/zalando/go-keyring"
)

const address = "https://mcp.example.com/mcp"

func sample(refresh string) grants.Grant {
	return grants.Grant{
		Address: address, Issuer: "https://auth.example.com", TokenEndpoint: "https://auth.example.com/oauth/token", ClientID: "id",
		Resource: "https://mcp.example.com", AccessToken: "a", AccessTokenUntil: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), RefreshToken: refresh,
	}
}

// check checks that the store keeps, replaces and deletes grants.
func check(t *testing.T, s grants.Store) {
	t.Helper()
	if _, err := s.Load(address); !errors.Is(err, grants.ErrNone) {
		t.Errorf("before Save: %v", err)
	}
	for _, refresh := range []string{"one", "two"} {
		if err := s.Save(sample(refresh)); err != nil {
			t.Fatal(err)
		}
		got, err := s.Load(address)
		if diff := cmp.Diff(sample(refresh), got); diff != "" || err != nil {
			t.Errorf("%s, %v", diff, err)
		}
	}
	if _, err := s.Load(address + "/other"); !errors.Is(err, grants.ErrNone) {
		t.Errorf("another address: %v", err)
	}
	for range 2 {
		if err := s.Delete(address); err != nil {
			t.Error(err)
		}
	}
	if _, err := s.Load(address); !errors.Is(err, grants.ErrNone) {
		t.Errorf("after Delete: %v", err)
	}
}

func open(t *testing.T, kind, folder string) grants.Store {
	t.Helper()
	s, err := grants.Open(kind, folder)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStores is not parallel, because the keyring of a test is a global of the library.
func TestStores(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "grants")
	check(t, open(t, grants.File, folder))
	keyring.MockInit()
	check(t, open(t, grants.Keyring, folder))
	check(t, open(t, grants.Auto, folder))
	keyring.MockInitWithError(errors.New("no keyring here"))
	check(t, open(t, grants.Auto, folder))
	if err := open(t, grants.Keyring, folder).Save(sample("r")); err == nil {
		t.Error("a keyring that does not work stored a grant")
	}
	auto := open(t, grants.Auto, folder)
	if err := auto.Save(sample("in a file")); err != nil {
		t.Fatal(err)
	}
	checkPrivate(t, folder)
	keyring.MockInit() // such as on the desktop, after a sign-in over ssh
	if got, err := auto.Load(address); err != nil || got.RefreshToken != "in a file" {
		t.Errorf("%+v, %v", got, err)
	}
	if err := auto.Save(sample("newer")); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, grants.Keyring, folder).Load(address); !errors.Is(err, grants.ErrNone) {
		t.Errorf("a grant is in two places: %v", err)
	}
}

// checkPrivate checks that only the owner can read the folder and the files in it.
func checkPrivate(t *testing.T, folder string) {
	t.Helper()
	info, err := os.Stat(folder)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder %v, %v", info.Mode(), err)
	}
	files, err := os.ReadDir(folder)
	if err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s %v, %v", f.Name(), info.Mode(), err)
		}
	}
}

// TestFolderOfOthers checks that a folder that other users can read or change is refused and
// left as it is.
func TestFolderOfOthers(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		return // its folders have no such permissions
	}
	for _, mode := range []fs.FileMode{0o755, 0o770, 0o701} {
		folder := t.TempDir()
		if err := os.Chmod(folder, mode); err != nil {
			t.Fatal(err)
		}
		_, opened := grants.Open(grants.File, folder)
		_, locked := grants.Lock(t.Context(), folder, address)
		for _, err := range []error{opened, locked} {
			if err == nil || !strings.Contains(err.Error(), "chmod 700 "+folder) {
				t.Errorf("%v: %v", mode, err)
			}
		}
		if info, err := os.Stat(folder); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	}
}

func TestLockIsExclusive(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "grants")
	unlock, err := grants.Lock(t.Context(), folder, address)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := grants.Lock(ctx, folder, address); err == nil {
		t.Error("two hold the lock")
	}
	other, err := grants.Lock(t.Context(), folder, address+"/other")
	if err != nil {
		t.Fatal(err)
	}
	other()
	unlock()
	again, err := grants.Lock(t.Context(), folder, address)
	if err != nil {
		t.Fatal(err)
	}
	again()
}
