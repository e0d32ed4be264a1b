//go:build linux

package files_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/files"
	"github.com/mailhelm/mailhelm/core/objects/objectstest"
	"pgregory.net/rapid"
)

const (
	// block is the unit in which space is freed.
	block = 4096
	// packLife is how long a pack takes records.
	packLife = 10 * time.Minute
)

// packing is a setup whose small objects are in packs.
type packing struct{ *setup }

func newPacking(t *testing.T) packing {
	t.Helper()
	s := newSetup(t)
	if !s.Packs() {
		t.Fatal("the file system of the test cannot free the middle of a file")
	}
	return packing{s}
}

// add adds a text as a message and returns its key.
func (p packing) add(t *testing.T, content string) string {
	t.Helper()
	return objectstest.Add(t, p.Of(p.org), objects.RawKey(p.org, core.NewID()), content)
}

// packs returns the paths of the packs.
func (p packing) packs(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(p.folder, p.org, "packs", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// listed returns the keys of all objects.
func (p packing) listed(t *testing.T) []string {
	t.Helper()
	keys, next, err := p.Of(p.org).List(t.Context(), p.org, time.Now().Add(time.Hour), "", 10_000)
	if err != nil || next != "" {
		t.Fatal(next, err)
	}
	return keys
}

// sweep does what Follow does at its start.
func (p packing) sweep(t *testing.T) {
	t.Helper()
	var log bytes.Buffer
	ctx, stop := context.WithCancel(t.Context())
	ticks, ended := make(chan time.Time), make(chan struct{})
	go func() { defer close(ended); p.Follow(ctx, ticks, slog.New(slog.NewTextHandler(&log, nil))) }()
	ticks <- start // is received after the sweep at the start
	stop()
	<-ended
	if log.Len() > 0 {
		t.Errorf("the sweep logged %s", log.String())
	}
}

// used returns how many bytes a file occupies on disk.
func used(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Blocks * 512 //nolint:forcetypeassert // of a file system
}

func TestContractWithoutPacks(t *testing.T) {
	t.Parallel()
	s := newSetup(t)
	s.Unpack()
	objectstest.Run(t, objectstest.Subject{
		Store: s.Of(s.org), OrgID: s.org, Now: start,
		Get: func(t *testing.T, url string) objectstest.Answer { t.Helper(); return s.get(t, "GET", url, nil) },
	})
	if found, _ := filepath.Glob(filepath.Join(s.folder, "*", "packs")); len(found) != 0 {
		t.Errorf("there are packs: %v", found)
	}
}

// TestPacks follows the objects of one organization through the life of their packs.
func TestPacks(t *testing.T) {
	t.Parallel()
	p := newPacking(t)
	first, second := p.add(t, "first"), p.add(t, strings.Repeat("second", 10_000))
	path := p.packs(t)
	if len(path) != 1 || !strings.HasPrefix(filepath.Base(first), "raw.eml_"+filepath.Base(path[0])+"_") {
		t.Fatalf("the packs are %v, the key is %s", path, first)
	}
	p.names(t, p.org) // checks modes
	other := packing{&setup{Files: p.open(t), folder: p.folder, org: p.org}}
	if content, _ := objectstest.Content(t, other.Of(p.org), first); content != "first" {
		t.Errorf("another process reads %q", content)
	}
	before := used(t, path[0])
	if err := other.Of(p.org).Delete(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if freed := before - used(t, path[0]); freed < 60_000 {
		t.Errorf("%d bytes were freed, want 60,000 at least", freed)
	}
	if err := other.Of(p.org).Delete(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	other.sweep(t)
	if len(p.packs(t)) != 1 {
		t.Fatal("a pack that another process appends to was removed")
	}
	p.set(start.Add(packLife))
	kept := p.add(t, "in the next pack")
	if got := p.packs(t); len(got) != 2 {
		t.Fatalf("packs after ten minutes: %v", got)
	}
	p.sweep(t)
	if got := p.packs(t); len(got) != 1 || got[0] == path[0] {
		t.Errorf("packs after the sweep: %v", got)
	}
	p.set(start.Add(2 * packLife))
	p.sweep(t)
	if got := p.listed(t); len(got) != 1 || got[0] != kept {
		t.Errorf("objects after the sweep: %v, want %s", got, kept)
	}
	if err := p.Of(p.org).Delete(t.Context(), kept); err != nil {
		t.Fatal(err)
	}
	p.sweep(t)
	if got := p.packs(t); len(got) != 0 {
		t.Errorf("packs without records: %v", got)
	}
}

// TestFullPack fills packs from several goroutines.
func TestFullPack(t *testing.T) {
	t.Parallel()
	p := newPacking(t)
	large := strings.Repeat("x", 256<<10)
	var done sync.WaitGroup
	for range 4 {
		done.Go(func() {
			for range 65 {
				p.add(t, large)
			}
		})
	}
	done.Wait()
	if got, objects := p.packs(t), p.listed(t); len(got) != 2 || len(objects) != 260 {
		t.Errorf("%d packs with %d objects, want 2 with 260", len(got), len(objects))
	}
}

// TestListOfManyPacks lists files and many packs in pages of one object.
func TestListOfManyPacks(t *testing.T) {
	t.Parallel()
	p := newPacking(t)
	want := map[string]bool{}
	for i := range 30 {
		p.set(start.Add(time.Duration(i) * packLife))
		want[p.add(t, "record")] = true
		if i < 3 {
			key := objects.RawKey(p.org, core.NewID())
			objectstest.Put(t, p.Of(p.org), key, "file")
			want[key] = true
		}
	}
	after := ""
	for range 33 {
		keys, next, err := p.Of(p.org).List(t.Context(), p.org, time.Now().Add(time.Hour), after, 1)
		if err != nil || len(keys) != 1 || !want[keys[0]] {
			t.Fatalf("after %q: %v, %v", after, keys, err)
		}
		delete(want, keys[0])
		after = next
	}
	if len(want) > 0 || after != "" {
		t.Errorf("not listed: %v; the last position is %q", want, after)
	}
}

// TestManyPacks has more organizations than packs that a process appends to at a time.
func TestManyPacks(t *testing.T) {
	t.Parallel()
	p := newPacking(t)
	keys := map[string]string{}
	for i := range 270 {
		org := fmt.Sprintf("0190a4f2-1111-7000-8000-%012d", i)
		keys[objectstest.Add(t, p.Of(org), objects.RawKey(org, core.NewID()), org)] = org
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	packs := 0
	for _, fd := range open {
		if at, err := os.Readlink(filepath.Join("/proc/self/fd", fd.Name())); err == nil && strings.HasPrefix(at, p.folder+"/") && strings.Contains(at, "/packs/") {
			packs++
		}
	}
	if packs != 256 {
		t.Errorf("%d packs are open, want 256", packs)
	}
	for key, org := range keys {
		if content, _ := objectstest.Content(t, p.Of(org), key); content != org {
			t.Errorf("%s is %q", key, content)
		}
	}
}

// TestKilledProcess has what a process leaves that was killed while it wrote.
func TestKilledProcess(t *testing.T) {
	t.Parallel()
	p := newPacking(t)
	p.add(t, "kept")
	path := p.packs(t)[0]
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = file.WriteAt(bytes.Repeat([]byte("half"), 5000), 4*block); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	before := used(t, path)
	if got := p.listed(t); len(got) != 1 {
		t.Errorf("listed %v", got)
	}
	p.sweep(t)
	if used(t, path) != before {
		t.Error("the sweep changed a pack that is being appended to")
	}
	p.set(start.Add(packLife))
	p.sweep(t)
	if freed := before - used(t, path); freed < 5*block {
		t.Errorf("%d bytes were freed, want %d", freed, 5*block)
	}
	if got := p.listed(t); len(got) != 1 {
		t.Errorf("listed %v", got)
	}
}

// TestForgedRecord stores a mail that has a valid record of another pack where a block begins,
// and lets the block of its own header be lost.
func TestForgedRecord(t *testing.T) {
	t.Parallel()
	p, q := newPacking(t), newPacking(t)
	forgedKey := objectstest.Add(t, q.Of(q.org), objects.RawKey(q.org, core.NewID()), "forged")
	forged, err := os.ReadFile(q.packs(t)[0])
	if err != nil {
		t.Fatal(err)
	}
	key := objects.RawKey(p.org, core.NewID())
	head := 18 + len(key)
	at := objectstest.Add(t, p.Of(p.org), key, strings.Repeat(" ", block-head)+string(forged[block:]))
	stored, pack, offset, ok := files.Located(at)
	if stored != key || offset != block || !ok {
		t.Fatal(stored, offset, ok)
	}
	path := filepath.Join(p.folder, p.org, "packs", pack)
	content, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(content[2*block:], forged[block:]) {
		t.Fatalf("the forged record does not begin with the block: %v", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = file.WriteAt(make([]byte, block), block); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if got := p.listed(t); len(got) != 0 {
		t.Errorf("listed %v", got)
	}
	forgedStored, _, _, _ := files.Located(forgedKey)
	for _, key := range []string{at, files.Locate(forgedStored, pack, 2*block), files.Locate(key, pack, 2*block)} {
		key = p.org + strings.TrimPrefix(key, objects.OrgOf(key))
		if _, found := objectstest.Content(t, p.Of(p.org), key); found {
			t.Errorf("%s exists", key)
		}
	}
}

// TestWrongPlaces opens and deletes objects at places of others.
func TestWrongPlaces(t *testing.T) {
	t.Parallel()
	p := newPacking(t)
	first, second := p.add(t, "first"), p.add(t, "second")
	stored, pack, offset, _ := files.Located(first)
	_, _, otherOffset, _ := files.Located(second)
	for _, key := range []string{
		files.Locate(stored, pack, otherOffset), files.Locate(stored, pack, offset+100*block), files.Locate(stored, "abcdefghijklmnop", offset),
		files.Locate(objects.RawKey(p.org, "m"), pack, offset), files.Locate(stored, "..", offset), stored,
	} {
		if err := p.Of(p.org).Delete(t.Context(), key); err != nil && objects.CheckKey(key) == nil {
			t.Errorf("delete %s: %v", key, err)
		}
		if _, err := p.Of(p.org).Open(t.Context(), key); !core.IsNotFound(err) && objects.CheckKey(key) == nil {
			t.Errorf("open %s: %v", key, err)
		}
	}
	for _, key := range []string{first, second} {
		if _, found := objectstest.Content(t, p.Of(p.org), key); !found {
			t.Errorf("%s was deleted", key)
		}
	}
}

// TestReplacedFolder checks that nothing is acknowledged that is written to a pack which is not
// in its place any more.
func TestReplacedFolder(t *testing.T) {
	t.Parallel()
	p := newPacking(t)
	before := p.add(t, "before")
	if err := os.Rename(p.folder, p.folder+"-away"); err != nil {
		t.Fatal(err)
	}
	again := p.open(t) // a new folder
	for range 3 {
		at, err := p.Of(p.org).Add(t.Context(), objects.RawKey(p.org, core.NewID()), []byte("after"), "")
		if err != nil && !errors.Is(err, objects.ErrUnavailable) {
			t.Errorf("error %v", err)
		}
		if err != nil {
			continue
		}
		if content, _ := objectstest.Content(t, again.Of(p.org), at); content != "after" {
			t.Errorf("the new folder has no %s", at)
		}
	}
	if _, found := objectstest.Content(t, p.Of(p.org), before); found {
		t.Error("an object of the old folder is found in the new one")
	}
}

// TestKeysOfPacks checks keys of any form.
func TestKeysOfPacks(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		key := objects.AttachmentKey(core.NewID(), rapid.StringMatching(`[a-z0-9][a-z0-9_.-]{0,60}`).Draw(t, "message"), rapid.IntRange(0, 1000).Draw(t, "index"))
		if _, _, _, ok := files.Located(key); ok {
			t.Fatalf("%s is in a pack", key)
		}
		offset := rapid.Int64Range(1, 1<<40/block).Draw(t, "block") * block
		at := files.Locate(key, "abcdefghijklmnop", offset)
		if stored, pack, got, ok := files.Located(at); stored != key || pack != "abcdefghijklmnop" || got != offset || !ok || objects.CheckKey(at) != nil {
			t.Fatalf("%s is %s, %s, %d, %t", at, stored, pack, got, ok)
		}
		files.Located(rapid.String().Draw(t, "anything")) // does not panic
	})
}

// BenchmarkAdd stores messages of 11 KB from 16 goroutines.
func BenchmarkAdd(b *testing.B) {
	s := newSetup(b)
	store, message := s.Of(s.org), bytes.Repeat([]byte("x"), 11<<10)
	b.SetParallelism(8)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			if _, err := store.Add(context.Background(), objects.RawKey(s.org, core.NewID()), message, ""); err != nil {
				b.Error(err)
			}
		}
	})
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
}

// TestMovedObjectsKeepTheirKeys checks that an object whose key names a pack of another installation
// is stored, found, listed and deleted as one with a file of its own.
func TestMovedObjectsKeepTheirKeys(t *testing.T) {
	t.Parallel()
	from, to := newPacking(t), newPacking(t)
	to.org = from.org
	key := from.add(t, "a message")
	store := to.Of(to.org)
	if err := store.Put(t.Context(), key, strings.NewReader("a message"), 9, ""); err != nil {
		t.Fatal(err)
	}
	if content, ok := objectstest.Content(t, store, key); !ok || content != "a message" {
		t.Errorf("content %q", content)
	}
	listed, _, err := store.List(t.Context(), to.org, time.Now().Add(time.Hour), "", 10)
	if err != nil || len(listed) != 1 || listed[0] != key {
		t.Errorf("listed %v, %v", listed, err)
	}
	for range 2 {
		if err := store.Delete(t.Context(), key); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Open(t.Context(), key); !core.IsNotFound(err) {
		t.Errorf("after the deletion: %v", err)
	}
}
