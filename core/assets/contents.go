package assets

import (
	"cmp"
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

// maxLost is the number of images that a refusal names.
const maxLost = 5

// Contents returns the contents of the active images of an organization, by path. Paths with the same
// content share its memory. It fails with core.CodeConflict if the images of all paths have more than
// limit bytes, or if contents are lost, and with core.CodeTemporarilyUnavailable if the object store does
// not work.
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
	var lost []string
	var cause error
	for _, c := range all {
		content, known := byHash[c.Hash]
		if !known {
			content, err = readContent(ctx, a.Objects, orgID, c.StoreID, c.Hash, c.SizeBytes)
			if err != nil && !errors.Is(err, ErrLost) {
				return nil, err
			}
			byHash[c.Hash], cause = content, cmp.Or(cause, err)
		}
		if contents[c.Path] = content; content == nil {
			lost = append(lost, c.Path)
		}
		if len(lost) == maxLost {
			break
		}
	}
	if len(lost) > 0 {
		return nil, lostImages(lost, cause)
	}
	return contents, nil
}

// lostImages returns the refusal of a call that needs the contents of all images.
func lostImages(paths []string, cause error) error {
	return &core.Error{
		Code: core.CodeConflict, Err: cause,
		Message: "The object store has lost or changed the content of these images, and perhaps of others: " + core.QuotedList(paths) + ".",
		Next: "Ask the operator to restore the objects from a backup, or import other images under these paths; an image with the same bytes counts as unchanged and is not stored again. " +
			"To export the other definitions until then, use a credential without the scope `" + string(core.AssetsView) + "`.",
	}
}

// ContentAt returns the content of the image at a path, which may be archived. It fails with
// core.CodeNotFound for other paths, with [ErrLost] if the content is lost, and with
// core.CodeTemporarilyUnavailable if the object store does not work.
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

// readContent returns a content from an object store. It fails with ErrLost if the object does not have the
// hash.
func readContent(ctx context.Context, stores objects.Stores, orgID, storeID, hash string, size int) ([]byte, error) {
	object, err := openContent(ctx, stores, orgID, storeID, hash, size)
	if err != nil {
		return nil, err
	}
	content := make([]byte, size)
	if _, err = io.ReadFull(object, content); err != nil {
		return nil, errors.Join(err, object.Close())
	}
	return content, object.Close()
}
