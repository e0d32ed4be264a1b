package assets

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/objects"
)

// Config configures [Assets]. All fields are required, except those whose comment gives an empty
// value a meaning.
type Config struct {
	Store      Store
	Objects    objects.Stores
	Transactor core.Transactor
	Clock      core.Clock
	// URL is the public asset address, without a slash at its end; "" if there is none.
	URL string
	// OnChange is called in the transaction in which the contents at paths change, or paths
	// become new. If it is nil, there is nothing to do then.
	OnChange func(ctx context.Context, orgID string, paths []string) error
}

// Assets stores images and lists them.
type Assets struct{ Config }

// New returns Assets that use the configuration.
func New(cfg Config) *Assets { return &Assets{cfg} }

// Operations returns the operations of this package, in the order of the operation catalogue.
func (a *Assets) Operations() []core.Operation {
	return []core.Operation{a.assetsList(), a.assetsGet()}
}

// addressOf returns the public address of a content with the ending of a file name, "" if the
// installation has no asset address.
func (a *Assets) addressOf(hash, name string) string {
	if a.URL == "" {
		return ""
	}
	return a.URL + "/" + hash + endingOf(name)
}

// Addresses returns the public addresses of the images at these paths, by path. Paths without an
// image have no entry. An archived image has an address, so that a template that still names it is
// not broken. It returns nothing if the installation has no asset address.
func (a *Assets) Addresses(ctx context.Context, orgID string, paths []string) (map[string]string, error) {
	if a.URL == "" || len(paths) == 0 {
		return nil, nil
	}
	found, err := a.Store.AssetsAt(ctx, orgID, paths)
	addresses := make(map[string]string, len(found))
	for _, c := range found {
		addresses[c.Path] = a.addressOf(c.Hash, c.Path)
	}
	return addresses, err
}
