package files

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core/objects"
)

// maxPacks is the number of packs that a process appends to at the same time, and so that of
// the files it keeps open for it.
const maxPacks = 256

// packs has the packs that this process appends to, at most one for each organization.
type packs struct {
	mu     sync.Mutex
	active map[string]*pack
	// clean has the paths of packs of this and of other processes in which a sweep found records
	// only. Sealed packs do not change any more, except that records are deleted.
	clean map[string]bool
}

// Add stores a new object. See [objects.Store]. A small one becomes a record of a pack: then
// concurrent calls of one organization are flushed to disk together, and no file is created.
func (f *Files) Add(ctx context.Context, key string, content []byte, contentType string) (string, error) {
	if err := objects.CheckKey(key); err != nil {
		return "", err
	}
	if !f.packing || len(content) > maxPacked {
		return key, f.Put(ctx, key, bytes.NewReader(content), int64(len(content)), contentType)
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	r := record{key: key, size: int64(len(content)), stored: time.Now()} //nolint:forbidigo // as the file system dates files, so that List is right for both
	s, at, err := f.reserve(objects.OrgOf(key), r.length())
	if err != nil {
		return "", err
	}
	defer s.done()
	if err := s.write(ctx, at, r, content); err != nil {
		if ctx.Err() != nil && !s.failed.Load() {
			return "", ctx.Err()
		}
		return "", unavailable("write", err)
	}
	return locate(key, locator{s.place.name, at}), nil
}

// reserve returns the pack of an organization and a place for n bytes in it. It makes a pack, which
// flushes the disk a few times, under the lock of all organizations: that happens once in ten
// minutes for each of them, and the others wait for the same disk anyway.
func (f *Files) reserve(orgID string, n int64) (*pack, int64, error) {
	f.packs.mu.Lock()
	defer f.packs.mu.Unlock()
	now := f.cfg.Clock()
	if s := f.packs.active[orgID]; s != nil {
		if at, ok := s.reserve(n, now); ok {
			return s, at, nil
		}
		f.packs.remove(s)
	}
	s, err := f.makePack(orgID)
	if err != nil {
		return nil, 0, err
	}
	if len(f.packs.active) >= maxPacks {
		f.packs.remove(f.packs.oldest())
	}
	f.packs.active[orgID] = s
	at, _ := s.reserve(n, now) // a new pack has place
	return s, at, nil
}

// remove seals a pack. The caller has the lock.
func (all *packs) remove(s *pack) {
	s.seal()
	delete(all.active, s.place.org)
}

// oldest returns the pack that ends first.
func (all *packs) oldest() *pack {
	var first *pack
	for _, s := range all.active {
		if first == nil || s.until.Before(first.until) {
			first = s
		}
	}
	return first
}

// removeEnded seals the packs whose time is over, so that their files are closed although no
// further mail comes.
func (all *packs) removeEnded(now time.Time) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, s := range all.active {
		if !now.Before(s.until) {
			all.remove(s)
		}
	}
}

func (all *packs) isClean(path string) bool {
	all.mu.Lock()
	defer all.mu.Unlock()
	return all.clean[path]
}

func (all *packs) setClean(path string, clean bool) {
	all.mu.Lock()
	defer all.mu.Unlock()
	if clean {
		all.clean[path] = true
	} else {
		delete(all.clean, path)
	}
}
