package orgmove_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	move "github.com/mailhelm/mailhelm/core/orgmove"
	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	"github.com/mailhelm/mailhelm/storage/orgmove"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// importVariable is an environment variable with an importJob as JSON. If it is set, the test binary
// only runs the import, as a process that a test can kill.
const importVariable = "MAILHELM_MOVE_IMPORT"

// importJob is an import in a process of its own.
type importJob struct {
	// URL is the PostgreSQL database, or Dir the folder of the SQLite database.
	URL, Dir string
	// Archive is the file of the archive, Key the key with which it was encrypted, and Objects the
	// folder for objects.
	Archive, Key, Objects string
}

// config returns the configuration of the database.
func (j importJob) config() storage.Config {
	return storage.Config{URL: j.URL, Dir: j.Dir, MaxConns: 8, CallerWait: time.Minute, Logger: slog.New(slog.DiscardHandler)}
}

func TestMain(m *testing.M) {
	if text := os.Getenv(importVariable); text != "" {
		if err := runImport(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// runImport runs an import, and prints a line when it begins and after each part.
func runImport(text string) error {
	var job importJob
	if err := json.Unmarshal([]byte(text), &job); err != nil {
		return err
	}
	ctx := context.Background()
	db, err := storage.Open(ctx, job.config())
	if err != nil {
		return err
	}
	defer db.Close() //nolint:errcheck // the process ends
	master, err := signing.NewMasterKey(bytes.Repeat([]byte{2}, 32))
	if err != nil {
		return err
	}
	key, err := age.ParseX25519Identity(job.Key)
	if err != nil {
		return err
	}
	archive, err := os.Open(job.Archive)
	if err != nil {
		return err
	}
	defer archive.Close() //nolint:errcheck // only read from
	fmt.Fprintln(os.Stdout, "begins")
	_, err = move.Import{
		Target:  orgmove.NewTarget(db.DB, master, "no password", func(context.Context, string) error { return nil }),
		Objects: folder(job.Objects), Progress: func(rows int64, _ string) { fmt.Fprintln(os.Stdout, rows) }, Rollback: time.Minute,
	}.Read(ctx, archive, []age.Identity{key}, move.Options{})
	return err
}

// folder has objects as files.
type folder string

func (f folder) path(key string) string { return filepath.Join(string(f), filepath.FromSlash(key)) }

func (f folder) Put(_ context.Context, _, key string, body io.Reader, _ int64) error {
	content, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(f.path(key)), 0o700); err != nil {
		return err
	}
	return os.WriteFile(f.path(key), content, 0o600)
}

func (f folder) Clear(_ context.Context, orgID string) error { return os.RemoveAll(f.path(orgID)) }

// objects returns all objects.
func (f folder) objects(t *testing.T) memory {
	t.Helper()
	all := memory{}
	err := filepath.WalkDir(string(f), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		key, err := filepath.Rel(string(f), path)
		if err == nil {
			all[filepath.ToSlash(key)], err = os.ReadFile(path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// kill says when a process is killed by SIGKILL: after some parts of the archive were read, and a time
// more.
type kill struct {
	parts int
	after time.Duration
}

// run runs the import, and kills its process unless at is nil. It reports whether the import came to
// its end.
func (j importJob) run(t *testing.T, at *kill) (ended bool) {
	t.Helper()
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	var stderr bytes.Buffer
	cmd.Env, cmd.Stderr = append(os.Environ(), importVariable+"="+string(text)), &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ { // the first line says that the import begins
		if at != nil && n == at.parts {
			defer time.AfterFunc(at.after, func() { _ = cmd.Process.Kill() }).Stop()
		}
	}
	if err := cmd.Wait(); err != nil && (at == nil || !strings.Contains(err.Error(), "killed")) {
		t.Fatalf("the import: %v\n%s", err, &stderr)
	}
	return cmd.ProcessState.Success()
}

// TestImportOutlivesKills kills the process of an import at random moments, and runs the import
// again. Nothing may be visible before it ends, and at its end every row and object must be there
// once.
func TestImportOutlivesKills(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		ctx, key := t.Context(), newKey(t)
		source := newInstallation(t, postgres, 1)
		org := source.org("acme")
		source.fillContacts(org.ID, 1500)
		for n := range 3 {
			source.objects[fmt.Sprintf("%s/message-%d/raw.eml", org.ID, n)] = bytes.Repeat([]byte{byte(n)}, 1000)
		}
		archive, done := source.export(org.ID, key)
		job := importJob{Archive: filepath.Join(t.TempDir(), "acme.age"), Key: key.String(), Objects: t.TempDir()}
		job.setDatabase(t, postgres)
		source.must(os.WriteFile(job.Archive, archive, 0o600))
		target := installation{t, storagetest.Open(t, job.config()), masterOf(t, 2), nil}
		chance, ended, kills := rand.New(rand.NewPCG(11, 7)), false, 0
		for !ended && kills < enginetest.Share(16) {
			at := kill{parts: kills, after: time.Duration(chance.IntN(50)) * time.Millisecond}
			if kills > 3 { // the first ones are in each table once
				at.parts = chance.IntN(5)
			}
			if ended = job.run(t, &at); ended {
				break
			}
			kills++
			if _, err := target.db.Orgs().OrgBySlug(ctx, "acme"); !core.IsNotFound(err) {
				t.Errorf("after kill %d the organization is visible: %v", kills, err)
			}
		}
		if !ended {
			job.run(t, nil)
		}
		t.Logf("%d kills", kills)
		if kills == 0 {
			t.Error("no import was killed")
		}
		target.objects = folder(job.Objects).objects(t)
		_, again := target.export(org.ID, key)
		if diff := cmp.Diff(withoutFormerKeys(done.Manifest), withoutFormerKeys(again.Manifest)); diff != "" {
			t.Errorf("after %d kills (-source +target): %s", kills, diff)
		}
	})
}

// setDatabase lets the import use a new database with the schema.
func (j *importJob) setDatabase(t *testing.T, postgres bool) {
	t.Helper()
	if postgres {
		j.URL = enginetest.PostgresURL(t)
		return
	}
	j.Dir = enginetest.Folder(t)
	enginetest.CopySQLite(t, j.Dir)
}

func masterOf(t *testing.T, n byte) signing.MasterKey {
	t.Helper()
	master, err := signing.NewMasterKey(bytes.Repeat([]byte{n}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return master
}
