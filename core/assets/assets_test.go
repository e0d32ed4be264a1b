package assets_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/assets"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/files"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// picture returns an SVG image, whose content depends on the text.
func picture(text string) []byte {
	return []byte(`<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><!--` + text + `--></svg>`)
}

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// stores counts the objects that are written to the data folder. If failure is set, it has no store.
type stores struct {
	files   *files.Files
	written int
	failure error
}

func (s *stores) Of(_ context.Context, orgID string) (objects.Store, error) {
	s.written++
	return s.files.Of(orgID), s.failure
}

func (s *stores) At(_ context.Context, orgID, storeID string) (objects.Store, error) {
	if storeID != objects.FilesID {
		return nil, objects.NotFound()
	}
	return s.files.Of(orgID), nil
}

// fixture has the images of an organization, and the changes that were reported.
type fixture struct {
	*assets.Assets
	stores  *stores
	org     string
	changed [][]string
}

func newFixture(t *testing.T, db *storage.DB) *fixture {
	t.Helper()
	kept, err := files.New(files.Config{Folder: filepath.Join(t.TempDir(), "objects"), Key: make([]byte, files.KeyBytes), FetchURL: "https://fetch.test", Clock: core.SystemClock})
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{stores: &stores{files: kept}, org: core.NewID()}
	f.Assets = assets.New(assets.Config{
		Store: db.Assets(), Objects: f.stores, Transactor: db, Clock: func() time.Time { return now }, URL: "https://img.example",
		OnChange: func(_ context.Context, _ string, paths []string) error {
			f.changed = append(f.changed, paths)
			return nil
		},
	})
	return f
}

// page returns the paths of all images, read in pages of two.
func (f *fixture) page(t *testing.T) (paths []string, all []assets.Detail) {
	t.Helper()
	for cursor := ""; ; {
		page, err := f.Page(t.Context(), f.org, cursor, 2)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range page.Items {
			paths, all = append(paths, d.SourcePath), append(all, d)
		}
		if cursor = page.Next; cursor == "" {
			return paths, all
		}
	}
}

func TestPutAndArchive(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		f, ctx := newFixture(t, db), t.Context()
		first := []assets.Image{
			{Path: "static/b.svg", Content: picture("same"), Origin: core.ManagedOrigin},
			{Path: "static/Z.SVG", Content: picture("same"), Origin: core.GitOrigin, Branch: "main"},
			{Path: "static/a.svg", Content: picture("a"), Origin: core.ManagedOrigin},
		}
		for range 2 { // the second time changes nothing
			if err := f.Put(ctx, f.org, first); err != nil {
				t.Fatal(err)
			}
		}
		paths, all := f.page(t)
		if want := []string{"static/Z.SVG", "static/a.svg", "static/b.svg"}; !slices.Equal(paths, want) || f.stores.written != 1 || len(f.changed) != 1 {
			t.Fatalf("%v, wrote %d times, reported %v", paths, f.stores.written, f.changed)
		}
		hash := assets.Hash(picture("same"))
		want := assets.Detail{Branch: "main", Asset: assets.Asset{
			ID: all[0].ID, SourcePath: "static/Z.SVG", ContentHash: hash, ContentType: "image/svg+xml", URL: "https://img.example/" + hash + ".svg",
			Width: 40, Height: 20, SizeBytes: len(picture("same")), CreatedAt: now,
		}}
		if diff := cmp.Diff(want, all[0]); diff != "" {
			t.Error(diff)
		}
		contents, err := f.Contents(ctx, f.org, 1<<20)
		if err != nil || len(contents) != 3 || !bytes.Equal(contents["static/Z.SVG"], picture("same")) || !bytes.Equal(contents["static/a.svg"], picture("a")) {
			t.Errorf("%v %q", err, contents)
		}
		if _, err := f.Contents(ctx, f.org, 100); !core.IsConflict(err) {
			t.Errorf("more than the limit: %v", err)
		}
		if content, err := f.ContentAt(ctx, f.org, "static/a.svg"); err != nil || !bytes.Equal(content, picture("a")) {
			t.Errorf("%q %v", content, err)
		}
		if _, err := f.ContentAt(ctx, core.NewID(), "static/a.svg"); !core.IsNotFound(err) {
			t.Errorf("another organization: %v", err)
		}
		f.public(t, db)
		f.change(t, all)
	})
}

// public reads an image of TestPutAndArchive by its hash, which another organization has too, but
// whose object store is gone.
func (f *fixture) public(t *testing.T, db *storage.DB) {
	t.Helper()
	ctx, content := t.Context(), picture("a")
	gone := assets.Content{Hash: assets.Hash(content), Type: "image/svg+xml", SizeBytes: len(content), StoreID: core.NewID(), CreatedAt: now.Add(-time.Hour)}
	if err := db.Assets().AddContents(ctx, core.NewID(), []assets.Content{gone}); err != nil {
		t.Fatal(err)
	}
	public := assets.Public{Store: db.PublicAssets(), Objects: f.stores}
	copies, err := public.Find(ctx, gone.Hash)
	if err != nil || len(copies) != 2 || copies[0].StoreID != gone.StoreID || copies[1].OrgID != f.org {
		t.Fatalf("%+v %v", copies, err)
	}
	object, err := public.Open(ctx, copies)
	if err != nil {
		t.Fatal(err)
	}
	if read, err := io.ReadAll(object); err != nil || !bytes.Equal(read, content) || object.Close() != nil {
		t.Errorf("%q %v", read, err)
	}
	if _, err := public.Open(ctx, copies[:1]); err == nil || core.IsNotFound(err) {
		t.Errorf("without a store: %v", err)
	}
	if _, err := public.Find(ctx, assets.Hash(nil)); !core.IsNotFound(err) {
		t.Errorf("an unknown hash: %v", err)
	}
}

// change replaces, archives and restores images of TestPutAndArchive.
func (f *fixture) change(t *testing.T, before []assets.Detail) {
	t.Helper()
	ctx := t.Context()
	f.changed = nil
	if err := f.Archive(ctx, f.org, []string{"static/a.svg", "static/none.svg"}); err != nil {
		t.Fatal(err)
	}
	if paths, _ := f.page(t); !slices.Equal(paths, []string{"static/Z.SVG", "static/b.svg"}) {
		t.Errorf("after archiving: %v", paths)
	}
	addresses, err := f.Addresses(ctx, f.org, []string{"static/a.svg", "static/none.svg"})
	if want := map[string]string{"static/a.svg": "https://img.example/" + assets.Hash(picture("a")) + ".svg"}; err != nil || !cmp.Equal(want, addresses) {
		t.Errorf("an archived image: %v %v", addresses, err)
	}
	if others, err := f.Addresses(ctx, core.NewID(), []string{"static/a.svg"}); err != nil || len(others) != 0 {
		t.Errorf("another organization: %v %v", others, err)
	}
	next := []assets.Image{
		{Path: "static/b.svg", Content: picture("new"), Origin: core.GitOrigin},
		{Path: "static/a.svg", Content: picture("a"), Origin: core.ManagedOrigin},
	}
	if err := f.Put(ctx, f.org, next); err != nil {
		t.Fatal(err)
	}
	paths, all := f.page(t)
	if len(paths) != 3 || all[1].ID != before[1].ID || all[2].ID != before[2].ID || !cmp.Equal(f.changed, [][]string{{"static/b.svg"}}) {
		t.Errorf("after restoring: %+v, reported %v", all, f.changed)
	}
	want := map[string]assets.Version{
		"static/a.svg": {Hash: assets.Hash(picture("a")), Origin: core.ManagedOrigin}, "static/b.svg": {Hash: assets.Hash(picture("new")), Origin: core.GitOrigin},
		"static/Z.SVG": {Hash: assets.Hash(picture("same")), Origin: core.GitOrigin},
	}
	if versions, err := f.Hashes(ctx, f.org); err != nil || !cmp.Equal(want, versions) {
		t.Errorf("%v %v", versions, err)
	}
}

// TestFailedPut writes no image if the object store fails, or the transaction around it.
func TestFailedPut(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	f, ctx := newFixture(t, db), t.Context()
	images := []assets.Image{{Path: "a.svg", Content: picture("a")}}
	f.stores.failure = fmt.Errorf("full: %w", objects.ErrUnavailable)
	if err := f.Put(ctx, f.org, images); core.AsError(err).Code != core.CodeTemporarilyUnavailable {
		t.Errorf("without a store: %v", err)
	}
	f.stores.failure = nil
	failure := errors.New("rolled back")
	if err := db.InTx(ctx, func(ctx context.Context) error { return errors.Join(f.Put(ctx, f.org, images), failure) }); !errors.Is(err, failure) {
		t.Error(err)
	}
	if paths, _ := f.page(t); len(paths) != 0 {
		t.Errorf("left %v", paths)
	}
	if err := f.Put(ctx, f.org, append(images, assets.Image{Path: "b.png", Content: picture("b")})); core.AsError(err).Code != core.CodeValidationFailed {
		t.Errorf("an invalid image: %v", err)
	}
	if paths, _ := f.page(t); len(paths) != 0 {
		t.Errorf("left %v", paths)
	}
}

// TestLostContents checks that images whose objects another program has replaced, shortened or deleted are
// named, and that no content is returned in their place.
func TestLostContents(t *testing.T) {
	t.Parallel()
	f, ctx := newFixture(t, storagetest.SQLite(t)), t.Context()
	images := []assets.Image{{Path: "a.svg", Content: picture("a")}, {Path: "b.svg", Content: picture("b")}, {Path: "again.svg", Content: picture("a")}}
	if err := f.Put(ctx, f.org, images); err != nil {
		t.Fatal(err)
	}
	store, key := f.stores.files.Of(f.org), objects.AssetKey(f.org, assets.Hash(picture("a")))
	put := func(content []byte) func() error {
		return func() error { return store.Put(ctx, key, bytes.NewReader(content), int64(len(content)), "") }
	}
	for name, lose := range map[string]func() error{
		"replaced": put(picture("x")), "shortened": put([]byte("<svg/>")), "deleted": func() error { return store.Delete(ctx, key) },
	} {
		if err := lose(); err != nil {
			t.Fatal(err)
		}
		contents, err := f.Contents(ctx, f.org, 1<<20)
		if e := core.AsError(err); e.Code != core.CodeConflict || !errors.Is(err, assets.ErrLost) || !strings.Contains(e.Message, `"a.svg", "again.svg"`) || strings.Contains(e.Message, "b.svg") {
			t.Errorf("%s: %v, read %q", name, err, contents)
		}
		if content, err := f.ContentAt(ctx, f.org, "a.svg"); !errors.Is(err, assets.ErrLost) {
			t.Errorf("%s: %v, read %q", name, err, content)
		}
	}
	if err := put(picture("a"))(); err != nil { // restored from a backup
		t.Fatal(err)
	}
	if contents, err := f.Contents(ctx, f.org, 1<<20); err != nil || len(contents) != 3 || !bytes.Equal(contents["again.svg"], picture("a")) {
		t.Errorf("restored: %q %v", contents, err)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	gif := []byte("GIF89a\x01\x00\x01\x00")
	for name, c := range map[string]struct {
		path    string
		content []byte
		want    string
	}{
		"accepted":     {"static/a.gif", gif, ""},
		"upper case":   {"static/A.GIF", gif, ""},
		"jpeg":         {"a.jpeg", []byte("\xff\xd8\xff\xd9"), ""},
		"largest":      {"a.gif", append(slices.Clone(gif), make([]byte, assets.MaxImage-len(gif))...), ""},
		"too large":    {"a.gif", append(slices.Clone(gif), make([]byte, assets.MaxImage-len(gif)+1)...), assets.FaultSize},
		"empty":        {"a.gif", nil, assets.FaultSize},
		"other ending": {"a.png", gif, assets.FaultNamed},
		"no ending":    {"gif", gif, assets.FaultNamed},
		"no image":     {"a.gif", []byte("<html>"), assets.FaultType},
		"no path":      {"", gif, assets.FaultPath},
		"long path":    {strings.Repeat("a", 510) + ".gif", gif, assets.FaultPath},
	} {
		faults, want := assets.Check(c.path, c.content), 0
		if c.want != "" {
			want = 1
		}
		if len(faults) < want || want == 0 && len(faults) > 0 || want > 0 && (faults[0].Code != c.want || !strings.HasSuffix(faults[0].Message, ".")) {
			t.Errorf("%s: %+v", name, faults)
		}
	}
}
