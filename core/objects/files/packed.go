package files

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
)

// packedFile is a pack that is read, or of which records are deleted.
type packedFile struct {
	*os.File
	nonce []byte
}

// openPack opens a pack. It fails with fs.ErrNotExist if it is gone, or is not a pack.
func openPack(path string, flag int) (packedFile, error) {
	file, err := os.OpenFile(path, flag, 0)
	if err != nil {
		return packedFile{}, err
	}
	head := make([]byte, len(packMagic)+nonceBytes)
	_, err = file.ReadAt(head, 0)
	if err == nil && !strings.HasPrefix(string(head), packMagic) || errors.Is(err, io.EOF) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return packedFile{}, errors.Join(err, file.Close())
	}
	return packedFile{file, head[len(packMagic):]}, nil
}

// headerRead is how much is read of a record for its header. Keys have at most 231 bytes.
const headerRead = 256

// record reads the header at an offset. It returns false if no record begins there.
func (p packedFile) record(at int64) (record, bool, error) {
	block := make([]byte, headerRead)
	n, err := p.ReadAt(block, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return record{}, false, err
	}
	r, ok := parseRecord(block[:n], p.nonce)
	return r, ok, nil
}

// walk calls found for each record from an offset on, with its place, and other for each block
// with content in which none begins. Such blocks were written by a process that ended before it
// had acknowledged them, or are being written. Deleted records have no content. It ends when found
// returns false.
func (p packedFile) walk(from int64, found func(at int64, r record) bool, other func(at int64) error) error {
	for at := max(from, blockBytes); ; {
		data, more, err := nextData(p.File, at)
		if err != nil || !more {
			return err
		}
		at = max(at, data/blockBytes*blockBytes)
		r, ok, err := p.record(at)
		switch {
		case err != nil:
			return err
		case !ok:
			if err := other(at); err != nil {
				return err
			}
			at += blockBytes
		case !found(at, r):
			return nil
		default:
			at += r.length()
		}
	}
}

// packed is an object in a pack, open for reading.
type packed struct {
	*io.SectionReader
	io.Closer
}

// openPacked opens an object in a pack. It fails with fs.ErrNotExist if there is no such pack, and
// with not_found if the pack has no such object.
func (f *Files) openPacked(orgID, stored string, l locator) (*packed, error) {
	p, err := openPack(f.path(orgID, packsFolder, l.pack), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil {
		return nil, unavailable("open", err)
	}
	r, ok, err := p.record(l.offset)
	if err != nil {
		return nil, unavailable("read", errors.Join(err, p.Close()))
	}
	if !ok || r.key != stored {
		_ = p.Close() // it was only read
		return nil, objects.NotFound()
	}
	return &packed{io.NewSectionReader(p, l.offset+r.contentAt(), r.size), p}, nil
}

// deletePacked deletes objects of one organization in one pack, durably. If the pack does not exist,
// they may have files of their own; see open.
func (f *Files) deletePacked(ctx context.Context, orgID, pack string, keys []string) error {
	p, err := openPack(f.path(orgID, packsFolder, pack), os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return f.deleteFiles(ctx, keys)
	}
	if err != nil {
		return unavailable("delete", err)
	}
	for _, key := range keys {
		stored, l, _ := located(key)
		r, ok, recordErr := p.record(l.offset)
		if err = recordErr; err != nil {
			break
		}
		if !ok || r.key != stored {
			continue // deleted before
		}
		if err = punch(p.File, l.offset, r.length()); err != nil {
			break
		}
	}
	if err = errors.Join(err, flushContent(p.File), p.Close()); err != nil {
		return unavailable("delete", err)
	}
	return nil
}

// sweepPacks removes the packs that have no record left, and of the others the blocks that
// processes which ended have left. Packs that a process appends to are locked.
func (f *Files) sweepPacks(ctx context.Context) error {
	f.packs.removeEnded(f.cfg.Clock())
	orgs, err := f.entries()
	if err != nil {
		return err
	}
	for _, org := range orgs {
		if !core.IsID(org.Name()) {
			continue
		}
		found, err := f.entries(org.Name(), packsFolder)
		if err != nil {
			return err
		}
		for _, pack := range found {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := f.sweepPack(f.path(org.Name(), packsFolder, pack.Name())); err != nil {
				return unavailable("sweep a pack", err)
			}
		}
	}
	return nil
}

// sweepPack sweeps one pack. It reads a pack to its end only once.
func (f *Files) sweepPack(path string) error {
	p, err := openPack(path, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer p.Close() //nolint:errcheck // nothing depends on what it wrote
	if free, err := lockFile(p.File); err != nil || !free {
		return err
	}
	clean, records := f.packs.isClean(path), 0
	err = p.walk(0, func(int64, record) bool { records++; return !clean }, func(at int64) error { return punch(p.File, at, blockBytes) })
	if err != nil {
		return err
	}
	f.packs.setClean(path, records > 0)
	if records > 0 {
		return nil
	}
	return os.Remove(path)
}
