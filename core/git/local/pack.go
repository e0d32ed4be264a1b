package local

import (
	"context"
	"io"
	"os"

	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/mailhelm/mailhelm/core/git"
)

// maxObjects is the maximum number of objects of a fetch.
const maxObjects = 1 << 20

// checkPack refuses a pack with an object that is larger than allowed after it is unpacked. The
// reader of packs holds objects in memory, and a small pack can have very large ones.
func (h *Host) checkPack(ctx context.Context, pack *os.File) error {
	if _, err := pack.Seek(0, io.SeekStart); err != nil {
		return err
	}
	s := packfile.NewScanner(pack)
	_, count, err := s.Header()
	if err != nil {
		return err
	}
	if count > maxObjects {
		return git.Refuse("The repository has more than %d files and folders.", maxObjects)
	}
	for range count {
		if err := ctx.Err(); err != nil {
			return err
		}
		header, err := s.NextObjectHeader()
		if err != nil {
			return err
		}
		size := header.Length
		if header.Type.IsDelta() {
			// The size of a delta says nothing; the object's size is in its first bytes.
			var start prefix
			if _, _, err := s.NextObject(&start); err != nil {
				return err
			}
			size = start.resultSize()
		}
		if size > h.cfg.MaxObject {
			return git.Refuse("The repository has a file with more than %d MiB. Remove it, or connect a repository with the definitions only.", h.cfg.MaxObject>>20)
		}
	}
	return nil
}

// prefix keeps the first bytes that are written.
type prefix struct {
	bytes [20]byte
	n     int
}

// Write keeps bytes and counts all as written.
func (p *prefix) Write(b []byte) (int, error) {
	p.n += copy(p.bytes[p.n:], b)
	return len(b), nil
}

// resultSize returns the size of the object that a delta makes: the second of two numbers with seven
// bits a byte, the lowest first (gitformat-pack).
func (p *prefix) resultSize() int64 {
	at := 0
	var size uint64
	for range 2 {
		size = 0
		for shift := 0; at < p.n; shift += 7 {
			b := p.bytes[at]
			at++
			if shift < 63 {
				size |= uint64(b&0x7f) << shift
			}
			if b&0x80 == 0 {
				break
			}
		}
	}
	return int64(size & (1<<63 - 1))
}
