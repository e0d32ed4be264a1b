package orgs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/mailstores"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/objects/files"
	"github.com/mailhelm/mailhelm/core/signing"
)

// kept are the objects in the data folder. Those in buckets stay where they are: a bucket belongs to
// the organization, and its address and access key move.
type kept struct{ files *files.Files }

// openObjects opens the folder of objects. It never creates it, because it must belong to the user
// of the server.
func openObjects(s *installation.Session, master signing.MasterKey) (kept, error) {
	if _, err := os.Stat(s.Config.ObjectsFolder()); errors.Is(err, fs.ErrNotExist) {
		return kept{}, fmt.Errorf("the folder %s, which has received mail and images, does not exist: name the data folder of the server with --data, or start the server once", s.Config.ObjectsFolder())
	}
	all, err := mailstores.Files(s.Config, master, "")
	return kept{all}, err
}

// page is the number of objects that are listed at a time.
const page = 500

// Each implements orgmove.ObjectSource.
func (k kept) Each(ctx context.Context, orgID string, do func(key string, open func() (io.ReadCloser, error)) error) error {
	store := k.files.Of(orgID)
	return k.pages(ctx, store, orgID, func(keys []string) error {
		for _, key := range keys {
			if err := do(key, func() (io.ReadCloser, error) { return store.Open(ctx, key) }); err != nil {
				return err
			}
		}
		return nil
	})
}

// pages calls do with the keys of all objects.
func (kept) pages(ctx context.Context, store objects.Store, orgID string, do func(keys []string) error) error {
	// Files have the times of the file system, which are those of this machine.
	before := time.Now().Add(time.Hour) //nolint:forbidigo // as the file system dates files
	for after := ""; ; {
		keys, next, err := store.List(ctx, orgID, before, after, page)
		if err != nil {
			return err
		}
		if err := do(keys); err != nil {
			return err
		}
		if after = next; next == "" {
			return nil
		}
	}
}

// Put implements orgmove.ObjectTarget.
func (k kept) Put(ctx context.Context, orgID, key string, body io.Reader, size int64) error {
	return k.files.Of(orgID).Put(ctx, key, body, size, "")
}

// Clear implements orgmove.ObjectTarget.
func (k kept) Clear(ctx context.Context, orgID string) error {
	store := k.files.Of(orgID)
	for {
		found := 0
		err := k.pages(ctx, store, orgID, func(keys []string) error {
			found += len(keys)
			if len(keys) == 0 {
				return nil
			}
			return store.Delete(ctx, keys...)
		})
		if err != nil || found == 0 {
			return err
		}
	}
}
