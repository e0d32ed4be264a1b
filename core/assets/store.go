package assets

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Store stores the records of images. Every method takes part in the transaction of its context, and
// reads and writes only the data of the given organization.
type Store interface {
	// Contents returns the contents with these hashes that the organization has.
	Contents(ctx context.Context, orgID string, hashes []string) ([]Content, error)
	// AddContents adds contents. Contents that exist stay as they are.
	AddContents(ctx context.Context, orgID string, contents []Content) error
	// SaveAssets stores the images at their paths, and makes them active. An image that has been at
	// a path before keeps its id and the time of its creation. The contents must exist.
	SaveAssets(ctx context.Context, orgID string, all []Saved, at time.Time) error
	// ArchiveAssets archives the active images at these paths.
	ArchiveAssets(ctx context.Context, orgID string, paths []string, at time.Time) error
	// AssetsPage returns active images in the order of their paths, after the image with the id
	// after, which may be archived; "" means from the start.
	AssetsPage(ctx context.Context, orgID, after string, limit int) ([]Detail, error)
	// Asset returns an active image. It fails with core.CodeNotFound for other ids.
	Asset(ctx context.Context, orgID, id string) (Detail, error)
	// CurrentAssets returns what is at each path, without archived images.
	CurrentAssets(ctx context.Context, orgID string) ([]Current, error)
	// AssetsAt returns the images at these paths, archived ones too.
	AssetsAt(ctx context.Context, orgID string, paths []string) ([]Current, error)
}

// Content is a content that an organization has stored. SizeBytes is its length.
type Content struct {
	Hash, Type               string
	Width, Height, SizeBytes int
	// StoreID is the id of the object store in which the content is.
	StoreID   string
	CreatedAt time.Time
}

// Saved is an image to store at a path. ID is its id if the path is new.
type Saved struct {
	ID, Path, Hash, Branch string
	Origin                 core.Origin
}

// Current is the content at a path.
type Current struct {
	Path, Hash string
	Origin     core.Origin
	SizeBytes  int
	StoreID    string
}
