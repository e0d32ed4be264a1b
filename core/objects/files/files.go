package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
)

const (
	fileMode   = 0o600
	folderMode = 0o700
	// tempFolder is the folder of files that are being written. Only New creates it: if it is
	// missing later, the disk of the objects is not mounted, and nothing may be written to
	// the disk below.
	tempFolder = "tmp"
	// leftoverAge is the age at which a temporary file belongs to no running process. A Put
	// ends long before that.
	leftoverAge = time.Hour
	// SweepEvery is the time between two calls of Sweep.
	SweepEvery = time.Hour
)

// Config configures [Files]. All fields are required.
type Config struct {
	// Folder is the folder of the objects. New creates it.
	Folder string
	// Key signs links. It is derived from the master key for KeyPurpose and has KeyBytes
	// bytes.
	Key []byte
	// FetchURL is the public address of the fetch host, without a slash at its end.
	FetchURL string
	Clock    core.Clock
}

// Files keeps objects of all organizations in a folder. It is safe for concurrent use.
type Files struct {
	cfg   Config
	links signer
	// making is locked while a folder is created and made durable. A rename holds it for
	// reading, so that no object is reported as durable in a folder that is not.
	making sync.RWMutex
	// packing is true if small objects are kept in packs.
	packing bool
	packs   packs
}

// New returns the Files in a folder. It creates the folder if it is missing. Call Follow, to
// remove temporary files of processes that ended.
func New(cfg Config) (*Files, error) {
	links, err := newSigner(cfg.Key)
	if err != nil {
		return nil, err
	}
	f := &Files{cfg: cfg, links: links, packs: packs{active: map[string]*pack{}, clean: map[string]bool{}}}
	if err := os.MkdirAll(f.path(tempFolder), folderMode); err != nil {
		return nil, fmt.Errorf("folder of mail: %w", err)
	}
	if err := errors.Join(syncFolder(cfg.Folder), syncFolder(filepath.Dir(cfg.Folder))); err != nil {
		return nil, fmt.Errorf("folder of mail: %w", err)
	}
	f.packing = canPack(f.path(tempFolder))
	return f, nil
}

// Of returns the store of an organization.
func (f *Files) Of(orgID string) objects.Store { return objects.Within(orgID, f) }

// ID returns the id of the store, objects.FilesID.
func (f *Files) ID() string { return objects.FilesID }

// Put stores an object. See [objects.Store]. It ignores the content type: who makes a link
// says which one it has.
func (f *Files) Put(ctx context.Context, key string, body io.Reader, size int64, _ string) error {
	if err := objects.CheckKey(key); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	temp, err := os.CreateTemp(f.path(tempFolder), "put-*") // mode 0600
	if err != nil {
		return unavailable("create a file", err)
	}
	if err := fill(ctx, temp, body, size); err != nil {
		remove(temp.Name())
		return err
	}
	if err := f.publish(temp.Name(), placeOf(key)); err != nil {
		remove(temp.Name())
		return err
	}
	return nil
}

// fill writes the body to a file, flushes the file to disk and closes it.
func fill(ctx context.Context, file *os.File, body io.Reader, size int64) error {
	source := &source{ctx: ctx, body: body}
	written, err := io.Copy(file, io.LimitReader(source, size+1)) // one byte more shows that the body is too long
	switch {
	case source.err != nil: // of the caller, not of the disk
		err = errors.Join(source.err, file.Close())
	case err != nil:
		err = unavailable("write", errors.Join(err, file.Close()))
	case written != size:
		err = errors.Join(objects.ErrSize, file.Close())
	default:
		if err = errors.Join(file.Sync(), file.Close()); err != nil {
			err = unavailable("write", err)
		}
	}
	return err
}

// source reads a body until the context ends. It remembers the error of the body.
type source struct {
	ctx  context.Context //nolint:containedctx // the source lives as long as one call
	body io.Reader
	err  error
}

// Read reads from the body.
func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		s.err = err
		return 0, err
	}
	n, err := s.body.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// publish gives a complete file its final name, durably.
func (f *Files) publish(temp string, place place) error {
	final := f.path(place.org, place.shard, place.name)
	err := f.rename(temp, final)
	if errors.Is(err, fs.ErrNotExist) {
		if err = f.makeFolders(place); err == nil {
			err = f.rename(temp, final)
		}
	}
	if err != nil {
		return unavailable("store", err)
	}
	if err := syncFolder(filepath.Dir(final)); err != nil {
		remove(final)
		return unavailable("store", err)
	}
	return nil
}

func (f *Files) rename(from, to string) error {
	f.making.RLock()
	defer f.making.RUnlock()
	return os.Rename(from, to)
}

// makeFolders creates the folders of an organization and of a shard, durably.
func (f *Files) makeFolders(p place) error {
	f.making.Lock()
	defer f.making.Unlock()
	if _, err := os.Stat(f.path(tempFolder)); err != nil {
		return err // the disk of the objects is not there
	}
	for _, folder := range []string{f.path(p.org), f.path(p.org, p.shard)} {
		if err := os.Mkdir(folder, folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := syncFolder(filepath.Dir(folder)); err != nil {
			return err
		}
	}
	return nil
}

// Open opens an object. See [objects.Store].
func (f *Files) Open(_ context.Context, key string) (io.ReadCloser, error) {
	if err := objects.CheckKey(key); err != nil {
		return nil, err
	}
	return f.open(key)
}

// open opens the object with a valid key. It fails with not_found if there is none. An object of an
// organization that moved here from another installation has a file of its own, also if its key
// names a pack of that installation: Put stored it so.
func (f *Files) open(key string) (io.ReadSeekCloser, error) {
	if stored, l, ok := located(key); ok {
		found, err := f.openPacked(objects.OrgOf(key), stored, l)
		if err == nil {
			return found, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	place := placeOf(key)
	file, err := os.Open(f.path(place.org, place.shard, place.name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, f.missing()
	}
	if err != nil {
		return nil, unavailable("open", err)
	}
	return file, nil
}

// missing returns the error for a file that does not exist: not_found, or ErrUnavailable if
// the whole folder is missing.
func (f *Files) missing() error {
	if _, err := os.Stat(f.path(tempFolder)); err != nil {
		return unavailable("find the folder of mail", err)
	}
	return objects.NotFound()
}

// Delete deletes objects. See [objects.Store].
func (f *Files) Delete(ctx context.Context, keys ...string) error {
	for _, key := range keys {
		if err := objects.CheckKey(key); err != nil {
			return err
		}
	}
	var own []string
	packed := map[place][]string{}
	for _, key := range keys {
		if _, l, ok := located(key); ok {
			at := place{objects.OrgOf(key), packsFolder, l.pack}
			packed[at] = append(packed[at], key)
		} else {
			own = append(own, key)
		}
	}
	for at, keys := range packed {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := f.deletePacked(ctx, at.org, at.name, keys); err != nil {
			return err
		}
	}
	return f.deleteFiles(ctx, own)
}

// deleteFiles deletes objects that have files of their own.
func (f *Files) deleteFiles(ctx context.Context, keys []string) error {
	var folders []string
	for _, key := range keys {
		if err := ctx.Err(); err != nil {
			return err
		}
		place := placeOf(key)
		folder := f.path(place.org, place.shard)
		err := os.Remove(filepath.Join(folder, place.name))
		if errors.Is(err, fs.ErrNotExist) {
			if err = f.missing(); core.IsNotFound(err) {
				continue
			}
			return err
		}
		if err != nil {
			return unavailable("delete", err)
		}
		if !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	for _, folder := range folders {
		if err := syncFolder(folder); err != nil {
			return unavailable("delete", err)
		}
	}
	return nil
}

// Sweep removes temporary files that are older than an hour, which a killed process left. It
// returns how many it removed. Several processes may call it at any time.
func (f *Files) Sweep(ctx context.Context) (int, error) {
	entries, err := os.ReadDir(f.path(tempFolder))
	if err != nil {
		return 0, unavailable("list temporary files", err)
	}
	oldest, removed := f.cfg.Clock().Add(-leftoverAge), 0
	for _, entry := range entries {
		if err := ctx.Err(); err != nil {
			return removed, err
		}
		info, err := entry.Info()
		if err != nil || info.ModTime().After(oldest) {
			continue // an entry without information is already gone
		}
		if err := os.Remove(f.path(tempFolder, entry.Name())); err == nil {
			removed++
		} else if !errors.Is(err, fs.ErrNotExist) {
			return removed, unavailable("remove a temporary file", err)
		}
	}
	return removed, nil
}

// Follow calls Sweep at once and at each tick until ctx ends. It logs failures.
func (f *Files) Follow(ctx context.Context, ticks <-chan time.Time, log *slog.Logger) {
	for {
		if _, err := f.Sweep(ctx); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "temporary files of received mail were not removed", "error", err)
		}
		if err := f.sweepPacks(ctx); err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "the space of deleted received mail was not freed", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
	}
}

// path returns the path of a file below the folder of the objects.
func (f *Files) path(elements ...string) string {
	return filepath.Join(append([]string{f.cfg.Folder}, elements...)...)
}

// remove removes a file that is not needed. Sweep removes what remains.
func remove(path string) { _ = os.Remove(path) }

// unavailable returns the error for a failure of the disk. It names a full disk.
func unavailable(what string, err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		what += ": the disk is full"
	}
	return fmt.Errorf("%w: %s: %w", objects.ErrUnavailable, what, err)
}
