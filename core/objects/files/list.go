package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
)

// List returns keys of objects. See [objects.Store]. A position is the shard and the name of a
// file. Files are in the order of their shards and names.
func (f *Files) List(ctx context.Context, orgID string, before time.Time, after string, limit int) ([]string, string, error) {
	lastShard, lastName, _ := strings.Cut(after, "/")
	shards, err := f.entries(orgID)
	if err != nil {
		return nil, "", err
	}
	var keys []string
	for _, shard := range shards {
		if err := ctx.Err(); err != nil {
			return nil, "", err
		}
		if shard.Name() < lastShard {
			continue
		}
		files, err := f.entries(orgID, shard.Name())
		if err != nil {
			return nil, "", err
		}
		for _, file := range files {
			if shard.Name() == lastShard && file.Name() <= lastName {
				continue
			}
			if limit == 0 {
				return keys, lastShard + "/" + lastName, nil
			}
			limit--
			lastShard, lastName = shard.Name(), file.Name()
			if key := keyOf(orgID, file); key != "" && storedBefore(file, before) {
				keys = append(keys, key)
			}
		}
	}
	return keys, "", nil
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
