package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
)

// List returns keys of objects. See [objects.Store]. The objects are in the order of their shards
// and names, and those in packs follow. A position is the folder and the name of a file, and in
// packs also the offset.
func (f *Files) List(ctx context.Context, orgID string, before time.Time, after string, limit int) ([]string, string, error) {
	l := listing{after: after, limit: limit, before: before}
	folders, err := f.entries(orgID)
	if err != nil {
		return nil, "", err
	}
	for _, folder := range folders {
		if err := ctx.Err(); err != nil {
			return nil, "", err
		}
		if lastFolder, _, _ := strings.Cut(after, "/"); folder.Name() < lastFolder {
			continue
		}
		files, err := f.entries(orgID, folder.Name())
		if err != nil {
			return nil, "", err
		}
		if folder.Name() == packsFolder {
			err = f.listPacks(ctx, orgID, files, &l)
		} else {
			l.files(orgID, folder.Name(), files)
		}
		if err != nil {
			return nil, "", err
		}
	}
	if !l.full {
		l.last = ""
	}
	return l.keys, l.last, nil
}

// listing is what a call of List has found.
type listing struct {
	before time.Time
	after  string
	limit  int

	keys []string
	last string // position of the last object that was looked at
	full bool   // there is an object after the limit
}

// next reports whether an object is to be looked at, which is after all those before. At the limit
// it sets full.
func (l *listing) next(position string) bool {
	l.full = l.full || l.limit == 0
	if l.full {
		return false
	}
	l.limit--
	l.last = position
	return true
}

// files looks at the files of a shard.
func (l *listing) files(orgID, shard string, files []fs.DirEntry) {
	for _, file := range files {
		position := shard + "/" + file.Name()
		if position <= l.after {
			continue
		}
		if !l.next(position) {
			return
		}
		if key := keyOf(orgID, file); key != "" && storedBefore(file, l.before) {
			l.keys = append(l.keys, key)
		}
	}
}

// listPacks looks at the records of the packs of an organization.
func (f *Files) listPacks(ctx context.Context, orgID string, packs []fs.DirEntry, l *listing) error {
	lastPack, from, err := packPosition(l.after)
	if err != nil {
		return err
	}
	for _, pack := range packs {
		if err := ctx.Err(); err != nil || l.full {
			return err
		}
		if pack.Name() < lastPack {
			continue
		}
		if pack.Name() > lastPack {
			from = 0
		}
		p, err := openPack(f.path(orgID, packsFolder, pack.Name()), os.O_RDONLY)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return unavailable("list a pack", err)
		}
		if err := errors.Join(l.records(pack.Name(), p, from), p.Close()); err != nil {
			return unavailable("list a pack", err)
		}
	}
	return nil
}

// packPosition returns the pack of a position, and where the records after the position
// begin. The name is "" if the position is in no pack.
func packPosition(position string) (pack string, from int64, err error) {
	rest, found := strings.CutPrefix(position, packsFolder+"/")
	if !found {
		return "", 0, nil
	}
	pack, offset, _ := strings.Cut(rest, "/")
	last, err := strconv.ParseInt(offset, 16, 64)
	if err != nil {
		return "", 0, fmt.Errorf("objects: the position %.100q is not valid", position)
	}
	return pack, last + blockBytes, nil
}

// records looks at the records of a pack.
func (l *listing) records(pack string, p packedFile, from int64) error {
	return p.walk(from, func(at int64, r record) bool {
		if !l.next(packsFolder + "/" + pack + "/" + strconv.FormatInt(at, 16)) {
			return false
		}
		if r.stored.Before(l.before) {
			l.keys = append(l.keys, locate(r.key, locator{pack, at}))
		}
		return true
	}, func(int64) error { return nil })
}

// entries returns the entries of a folder in the order of their names, none if it does not exist.
func (f *Files) entries(elements ...string) ([]fs.DirEntry, error) {
	found, err := os.ReadDir(f.path(elements...))
	if errors.Is(err, fs.ErrNotExist) {
		if err = f.missing(); core.IsNotFound(err) {
			return nil, nil
		}
		return nil, err
	}
	if err != nil {
		return nil, unavailable("list a folder", err)
	}
	return found, nil
}

// keyOf returns the key of the object in a file, or "" if the file has none.
func keyOf(orgID string, file fs.DirEntry) string {
	key := orgID + "/" + strings.ReplaceAll(file.Name(), ",", "/")
	if !file.Type().IsRegular() || objects.CheckKey(key) != nil {
		return ""
	}
	return key
}

// storedBefore reports whether a file was written before a time. It is false for a file that was
// deleted since it was listed.
func storedBefore(file fs.DirEntry, before time.Time) bool {
	info, err := file.Info()
	return err == nil && info.ModTime().Before(before)
}
