package assets

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
)

// Version is the content at a path, and where it is defined.
type Version struct {
	Hash   string
	Origin core.Origin
}

// Hashes returns the active images of an organization, by path. It reads no contents.
func (a *Assets) Hashes(ctx context.Context, orgID string) (map[string]Version, error) {
	all, err := a.Store.CurrentAssets(ctx, orgID)
	versions := make(map[string]Version, len(all))
	for _, c := range all {
		versions[c.Path] = Version{c.Hash, c.Origin}
	}
	return versions, err
}

// Contents returns the contents of the active images of an organization, by path. Paths with the same
// content share its memory. It fails with core.CodeConflict if the images of all paths have more than
// limit bytes, and with core.CodeTemporarilyUnavailable if the object store does not work.
func (a *Assets) Contents(ctx context.Context, orgID string, limit int) (map[string][]byte, error) {
	all, err := a.Store.CurrentAssets(ctx, orgID)
	if err != nil {
		return nil, err
	}
	total := 0
	for _, c := range all {
		total += c.SizeBytes
	}
	if total > limit {
		return nil, core.Conflict(fmt.Sprintf("The images have %d bytes together; %d are allowed.", total, limit), "Remove images from the bundle or the repository, or make them smaller.")
	}
	byHash, contents := map[string][]byte{}, make(map[string][]byte, len(all))
	for _, c := range all {
		if byHash[c.Hash] == nil {
			if byHash[c.Hash], err = readContent(ctx, a.Objects, orgID, c.StoreID, c.Hash, c.SizeBytes); err != nil {
				return nil, err
			}
		}
		contents[c.Path] = byHash[c.Hash]
	}
	return contents, nil
}

// ContentAt returns the content of the image at a path, which may be archived. It fails with
// core.CodeNotFound for other paths, and otherwise as Contents does.
func (a *Assets) ContentAt(ctx context.Context, orgID, path string) ([]byte, error) {
	found, err := a.Store.AssetsAt(ctx, orgID, []string{path})
	if err == nil && len(found) == 0 {
		err = core.NotFound("image")
	}
	if err != nil {
		return nil, err
	}
	return readContent(ctx, a.Objects, orgID, found[0].StoreID, found[0].Hash, found[0].SizeBytes)
}

// readContent returns a content from an object store. It fails if the object does not have the hash.
func readContent(ctx context.Context, stores objects.Stores, orgID, storeID, hash string, size int) ([]byte, error) {
	object, err := openContent(ctx, stores, orgID, storeID, hash, size)
	if err != nil {
		return nil, err
	}
	content := make([]byte, size)
	_, err = io.ReadFull(object, content)
	return content, errors.Join(err, object.Close())
}
