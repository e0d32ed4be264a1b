package files

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mailhelm/mailhelm/core/groupcommit"
)

const (
	// packsFolder is the folder of the packs of an organization, beside those of its shards.
	packsFolder = "packs"
	// packMagic begins each pack. The nonce follows it, and the first record begins in the
	// next block.
	packMagic  = "mailhelm pack 1\n"
	nonceBytes = 16
	// packBytes is the size at which a pack takes no more records, and packLife the age.
	// The mail of one pack is then deleted at about the same time.
	packBytes, packLife = 64 << 20, 10 * time.Minute
	// maxFlushed is the largest number of records that are flushed to disk together.
	maxFlushed = 1024
	// flushTime bounds the wait for others before a flush, not the flush.
	flushTime = time.Minute
)

var (
	errPackGone   = errors.New("the folder of mail was replaced")
	errPackFailed = errors.New("an earlier write to the pack failed")
)

// pack is a file that this process appends records to.
type pack struct {
	place place
	path  string
	file  *os.File
	info  fs.FileInfo
	nonce []byte
	until time.Time
	flush *groupcommit.Group[struct{}]
	// failed is set by the first flush that fails. The system then does not know any more what is
	// on disk, so that a later flush that succeeds would prove nothing.
	failed atomic.Bool

	mu      sync.Mutex
	end     int64 // where the next record begins
	writers int
	sealed  bool // takes no more records
}

// makePack creates a pack, durably. It has the lock of the file until it closes it.
func (f *Files) makePack(orgID string) (*pack, error) {
	s := &pack{
		place: place{orgID, packsFolder, strings.ToLower(rand.Text()[:packName])}, nonce: make([]byte, nonceBytes),
		until: f.cfg.Clock().Add(packLife), end: blockBytes,
	}
	s.path = f.path(s.place.org, s.place.shard, s.place.name)
	_, _ = rand.Read(s.nonce) // it never fails
	s.flush = groupcommit.New(groupcommit.Config[struct{}]{Commit: s.commit, Max: maxFlushed, Timeout: flushTime})
	temp, err := os.CreateTemp(f.path(tempFolder), "pack-*")
	if err != nil {
		return nil, unavailable("create a file", err)
	}
	s.file = temp
	_, err = lockFile(temp)
	if err == nil {
		_, err = temp.WriteAt(append([]byte(packMagic), s.nonce...), 0)
	}
	if err == nil {
		err = temp.Sync()
	}
	if err == nil {
		s.info, err = temp.Stat()
	}
	if err != nil {
		remove(temp.Name())
		return nil, unavailable("create a pack", errors.Join(err, temp.Close()))
	}
	if err := f.publish(temp.Name(), s.place); err != nil {
		remove(temp.Name())
		return nil, errors.Join(err, temp.Close())
	}
	return s, nil
}

// reserve returns where a record of n bytes is to be written. It returns false if the pack
// takes no more. The caller calls done.
func (s *pack) reserve(n int64, now time.Time) (int64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sealed || s.failed.Load() || s.end+n > packBytes || !now.Before(s.until) {
		return 0, false
	}
	at := s.end
	s.end += n
	s.writers++
	return at, true
}

// done ends what reserve began.
func (s *pack) done() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writers--
	s.closeUnused()
}

// seal lets the pack take no more records.
func (s *pack) seal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sealed = true
	s.closeUnused()
}

func (s *pack) closeUnused() {
	if s.sealed && s.writers == 0 {
		_ = s.file.Close() // what was acknowledged is flushed
	}
}

// write writes a record durably.
func (s *pack) write(ctx context.Context, at int64, r record, content []byte) error {
	buffer := buffers.Get().(*[]byte) //nolint:forcetypeassert // the pool has nothing else
	defer buffers.Put(buffer)
	*buffer = appendRecord((*buffer)[:0], s.nonce, r, content)
	_, err := s.file.WriteAt(*buffer, at)
	if err == nil {
		err = s.flush.Do(ctx, struct{}{})
	}
	if err != nil {
		_ = punch(s.file, at, r.length()) // Sweep does it otherwise
		s.giveBack(at, r.length())
	}
	return err
}

// giveBack lets the next record begin where one was not written, if none follows.
func (s *pack) giveBack(at, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end == at+n {
		s.end = at
	}
}

// buffers has memory of records for use by others.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// commit flushes what is written. It fails if the file is not in its place any more, because what
// is written to it would not be found again.
func (s *pack) commit(context.Context, []struct{}) error {
	if s.failed.Load() {
		return errPackFailed
	}
	err := flushContent(s.file)
	if err == nil {
		var there fs.FileInfo
		if there, err = os.Stat(s.path); err == nil && !os.SameFile(there, s.info) {
			err = errPackGone
		}
	}
	if err != nil {
		s.failed.Store(true)
	}
	return err
}
