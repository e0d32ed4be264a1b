package files_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/files"
	"github.com/mailhelm/mailhelm/core/objects/objectstest"
)

// start is the first time of the tests' clock. Links are made at this time.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const fetchURL = "https://fetch.test"

// setup is a folder of objects with a clock.
type setup struct {
	*files.Files
	folder string
	clock  atomic.Pointer[time.Time]
	org    string
}

func newSetup(tb testing.TB) *setup {
	tb.Helper()
	s := &setup{folder: filepath.Join(tb.TempDir(), "objects"), org: core.NewID()}
	s.set(start)
	s.Files = s.open(tb)
	return s
}

func (s *setup) set(now time.Time) { s.clock.Store(&now) }

// open returns Files in the folder, as a process that starts does.
func (s *setup) open(tb testing.TB) *files.Files {
	tb.Helper()
	f, err := files.New(files.Config{
		Folder: s.folder, Key: bytes.Repeat([]byte{7}, files.KeyBytes), FetchURL: fetchURL,
		Clock: func() time.Time { return *s.clock.Load() },
	})
	if err != nil {
		tb.Fatal(err)
	}
	return f
}

// get serves a request for a link, with the status 404 for not_found.
func (s *setup) get(t *testing.T, method, url string, header http.Header) objectstest.Answer {
	t.Helper()
	token, ok := strings.CutPrefix(url, fetchURL+files.LinkPath)
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, "/", nil)
	for name, values := range header {
		r.Header[name] = values
	}
	err := s.ServeLink(w, r, token)
	if !ok || core.IsNotFound(err) {
		if len(w.Header()) > 0 || w.Body.Len() > 0 {
			t.Errorf("a refused link wrote %v %q", w.Header(), w.Body)
		}
		w.WriteHeader(http.StatusNotFound)
	} else if err != nil {
		t.Fatal(err)
	}
	return objectstest.Answer{Status: w.Code, Header: w.Header(), Content: w.Body.String()}
}

func TestContract(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	objectstest.Run(t, objectstest.Subject{
		Store: s.Of(s.org), OrgID: s.org, Now: start,
		Get: func(t *testing.T, url string) objectstest.Answer {
			t.Helper()
			return s.get(t, http.MethodGet, url, nil)
		},
	})
	if got := s.names(t, "tmp"); len(got) != 0 {
		t.Errorf("temporary files are left: %v", got)
	}
}

// names returns the paths of files below a subfolder, and checks the modes of all files and
// folders.
func (s *setup) names(t *testing.T, sub string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(filepath.Join(s.folder, sub), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if entry.IsDir() {
			want = 0o700
		} else {
			names = append(names, strings.TrimPrefix(path, s.folder+"/"))
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != want {
			t.Errorf("%s has mode %o, want %o", path, info.Mode().Perm(), want)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// TestPlaces checks that objects survive a restart, and where they are: a change of places
// would lose the mail of installations.
func TestPlaces(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	org, id := "0190a4f2-1111-7000-8000-000000000001", "0190a4f2-2222-7000-8000-000000000002"
	store := s.Of(org)
	objectstest.Put(t, store, objects.RawKey(org, id), "raw")
	objectstest.Put(t, store, objects.AttachmentKey(org, id, 3), "three")
	got := strings.Join(s.names(t, org), " ")
	if want := org + "/6f/" + id + ",attachments,3 " + org + "/6f/" + id + ",raw.eml"; got != want {
		t.Errorf("files: %s, want %s", got, want)
	}
	if content, _ := objectstest.Content(t, s.open(t).Of(org), objects.RawKey(org, id)); content != "raw" {
		t.Errorf("after a restart: %q", content)
	}
	if id := store.ID(); id != objects.FilesID {
		t.Errorf("ID = %q", id)
	}
}

// TestLeftovers checks that temporary files of killed processes are removed, and files that
// may still be written are not.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	write := func(name string, age time.Duration) {
		t.Helper()
		path := filepath.Join(s.folder, "tmp", name)
		if err := errors.Join(os.WriteFile(path, []byte("half"), 0o600), os.Chtimes(path, start.Add(-age), start.Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	write("put-1", 61*time.Minute)
	write("put-2", 59*time.Minute)
	if n, err := s.Sweep(t.Context()); n != 1 || err != nil {
		t.Errorf("Sweep = %d, %v", n, err)
	}
	if got := strings.Join(s.names(t, "tmp"), " "); got != "tmp/put-2" {
		t.Errorf("after the first sweep: %s", got)
	}
	s.set(start.Add(2 * time.Minute))
	if n, err := s.Sweep(t.Context()); n != 1 || err != nil {
		t.Errorf("Sweep = %d, %v", n, err)
	}
	if got := s.names(t, "tmp"); len(got) != 0 {
		t.Errorf("after the sweep: %s", got)
	}
	ctx, stop := context.WithCancel(t.Context())
	ticks, ended := make(chan time.Time), make(chan struct{})
	write("put-3", 2*time.Hour)
	go func() { defer close(ended); s.Follow(ctx, ticks, slog.New(slog.DiscardHandler)) }()
	ticks <- start // is received after the sweep at the start
	if got := s.names(t, "tmp"); len(got) != 0 {
		t.Errorf("after the start: %s", got)
	}
	write("put-4", 2*time.Hour)
	ticks <- start
	ticks <- start // is received after the sweep of a tick
	stop()
	<-ended
	if got := s.names(t, "tmp"); len(got) != 0 {
		t.Errorf("after a tick: %s", got)
	}
}

// TestDamagedFolder checks that a missing or unusable folder is ErrUnavailable in each call,
// that nothing is written beside it, and that it works again when it is back.
func TestDamagedFolder(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(folder string) error{
		"missing": func(folder string) error { return os.Rename(folder, folder+"-away") },
		"not mounted": func(folder string) error {
			return errors.Join(os.Rename(folder, folder+"-away"), os.Mkdir(folder, 0o700))
		},
		"a file": func(folder string) error {
			return errors.Join(os.Rename(folder, folder+"-away"), os.WriteFile(folder, nil, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSetup(t)
			store, key := s.Of(s.org), objects.RawKey(s.org, core.NewID())
			objectstest.Put(t, store, key, "before")
			added := objectstest.Add(t, store, key, "added before")
			link, err := store.Link(t.Context(), key, objects.Link{Until: start.Add(time.Hour)})
			if err = errors.Join(err, damage(s.folder)); err != nil {
				t.Fatal(err)
			}
			_, openErr := store.Open(t.Context(), key)
			_, sweepErr := s.Sweep(t.Context())
			_, addErr := store.Add(t.Context(), objects.RawKey(s.org, core.NewID()), []byte("x"), "")
			_, openAddedErr := store.Open(t.Context(), added)
			for call, err := range map[string]error{
				"Put":  store.Put(t.Context(), key, strings.NewReader("x"), 1, ""),
				"Open": openErr, "Delete": store.Delete(t.Context(), key), "Sweep": sweepErr,
				"Add": addErr, "Open of an added object": openAddedErr, "Delete of an added object": store.Delete(t.Context(), added),
				"ServeLink": s.ServeLink(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil), strings.TrimPrefix(link, fetchURL+files.LinkPath)),
			} {
				if !errors.Is(err, objects.ErrUnavailable) {
					t.Errorf("%s: %v, want ErrUnavailable", call, err)
				}
			}
			if entries, err := os.ReadDir(s.folder); err == nil && len(entries) > 0 {
				t.Errorf("files were written into the empty folder: %v", entries)
			}
			if err := errors.Join(os.RemoveAll(s.folder), os.Rename(s.folder+"-away", s.folder)); err != nil {
				t.Fatal(err)
			}
			if content, _ := objectstest.Content(t, store, key); content != "before" {
				t.Errorf("after the repair: %q", content)
			}
			objectstest.Put(t, store, key, "after")
			if content, _ := objectstest.Content(t, store, added); content != "added before" {
				t.Errorf("after the repair: %q", content)
			}
			objectstest.Add(t, store, objects.RawKey(s.org, core.NewID()), "after")
		})
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()
	if _, err := files.New(files.Config{Folder: t.TempDir(), Key: make([]byte, 31), Clock: core.SystemClock}); err == nil {
		t.Error("a short key is accepted")
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := files.New(files.Config{Folder: filepath.Join(file, "x"), Key: make([]byte, files.KeyBytes), Clock: core.SystemClock}); err == nil {
		t.Error("a folder in a file is accepted")
	}
}

// BenchmarkPut stores messages of 11 KB from 16 goroutines.
func BenchmarkPut(b *testing.B) {
	s := newSetup(b)
	store, message := s.Of(s.org), bytes.Repeat([]byte("x"), 11<<10)
	b.SetParallelism((16 + runtime.GOMAXPROCS(0) - 1) / runtime.GOMAXPROCS(0))
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if err := store.Put(context.Background(), objects.RawKey(s.org, core.NewID()), bytes.NewReader(message), int64(len(message)), ""); err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}
