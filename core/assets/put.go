package assets

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/assets/header"
	"github.com/mailhelm/mailhelm/core/objects"
)

// Keep stores the contents of images that the organization does not have yet: each content once, first
// the object, then its record. It changes no image. Call it before the transaction of Put, because it
// may write to a bucket. It may be repeated. It fails with core.CodeValidationFailed if Check refuses
// an image, and with core.CodeTemporarilyUnavailable if the object store does not work.
func (a *Assets) Keep(ctx context.Context, orgID string, images []Image) error {
	byHash := make(map[string]Image, len(images))
	for _, image := range images {
		if faults := Check(image.Path, image.Content); len(faults) > 0 {
			return core.Invalid("images", "has the file "+core.Quote(image.Path)+". "+faults[0].Message)
		}
		byHash[Hash(image.Content)] = image
	}
	known, err := a.Store.Contents(ctx, orgID, slices.Sorted(maps.Keys(byHash)))
	if err != nil {
		return err
	}
	for _, c := range known {
		delete(byHash, c.Hash)
	}
	if len(byHash) == 0 {
		return nil
	}
	store, err := a.Objects.Of(ctx, orgID)
	if err != nil {
		return unavailable(err)
	}
	contents := make([]Content, 0, len(byHash))
	for _, hash := range slices.Sorted(maps.Keys(byHash)) {
		content := byHash[hash].Content
		h := header.Read(content)
		if err := store.Put(ctx, objects.AssetKey(orgID, hash), bytes.NewReader(content), int64(len(content)), h.Type); err != nil {
			return unavailable(err)
		}
		contents = append(contents, Content{
			Hash: hash, Type: h.Type, Width: h.Width, Height: h.Height, SizeBytes: len(content), StoreID: store.ID(), CreatedAt: a.Clock(),
		})
	}
	return a.Store.AddContents(ctx, orgID, contents)
}

// unavailable returns the error for a failed call of an object store.
func unavailable(err error) error {
	if errors.Is(err, objects.ErrUnavailable) {
		return core.TemporarilyUnavailable(err)
	}
	return err
}

// Put stores images at their paths, in the transaction of ctx if it has one. It calls Keep first,
// which writes no object if the contents are known. Other paths keep their images. Images that are
// there already, with their origin and branch, stay as they are, so Put may be repeated.
func (a *Assets) Put(ctx context.Context, orgID string, images []Image) error {
	if len(images) == 0 {
		return nil
	}
	if err := a.Keep(ctx, orgID, images); err != nil {
		return err
	}
	byPath := make(map[string]Saved, len(images))
	for _, image := range images {
		byPath[image.Path] = Saved{ID: core.NewID(), Path: image.Path, Hash: Hash(image.Content), Branch: image.Branch, Origin: image.Origin}
	}
	paths := slices.Sorted(maps.Keys(byPath))
	return a.Transactor.InTx(ctx, func(ctx context.Context) error {
		before, err := a.Store.AssetsAt(ctx, orgID, paths)
		if err != nil {
			return err
		}
		same := map[string]bool{}
		for _, c := range before {
			same[c.Path] = c.Hash == byPath[c.Path].Hash
		}
		all := make([]Saved, 0, len(paths))
		for _, path := range paths {
			all = append(all, byPath[path])
		}
		if err := a.Store.SaveAssets(ctx, orgID, all, a.Clock()); err != nil {
			return err
		}
		changed := slices.DeleteFunc(paths, func(path string) bool { return same[path] })
		if len(changed) == 0 || a.OnChange == nil {
			return nil
		}
		return a.OnChange(ctx, orgID, changed)
	})
}

// Archive archives the images at these paths. Paths without an active image are skipped. The contents
// are still served, because deployed templates and mail that was sent may show them.
func (a *Assets) Archive(ctx context.Context, orgID string, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	return a.Store.ArchiveAssets(ctx, orgID, paths, a.Clock())
}
