// Package images assembles what a server needs for the images that mail shows: their operations,
// their part of bundles, and the asset host.
package images

import (
	"context"
	"encoding/base64"
	"errors"
	"log/slog"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/network"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/assets"
	"github.com/mailhelm/mailhelm/core/assets/header"
	"github.com/mailhelm/mailhelm/core/bundles"
	"github.com/mailhelm/mailhelm/core/bundles/archive"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/mailsettings"
	"github.com/mailhelm/mailhelm/core/objects"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/templates"
	assethost "github.com/mailhelm/mailhelm/rest/assets"
)

// Site returns the asset host.
func Site(public config.Public, store assets.PublicStore, stores objects.Stores, log *slog.Logger) network.Site {
	return network.Site{Service: config.AssetService, Origin: public.Asset, Routes: assethost.Paths(), Handler: assethost.New(assethost.Config{
		Images: &assets.Public{Store: store, Objects: stores}, Log: log,
	})}
}

// Resolve returns the function that gives images in content their public addresses.
func Resolve(all *assets.Assets) templates.Images {
	return func(ctx context.Context, orgID string, content sending.Template) (sending.Template, error) {
		addresses, err := all.Addresses(ctx, orgID, templates.ImagePaths(content))
		if err != nil || len(addresses) == 0 {
			return content, err
		}
		return templates.ResolveImages(content, func(path string) (string, bool) {
			address, ok := addresses[path]
			return address, ok
		}), nil
	}
}

// maxDataURL is the size of the largest image that a preview shows, in bytes.
const maxDataURL = 512 << 10

// DataURL returns the function that returns images for previews, whose pages may load nothing from
// other places; see [templates.Config]. A preview has no image whose content is lost.
func DataURL(all *assets.Assets) func(ctx context.Context, orgID, path string) (string, error) {
	return func(ctx context.Context, orgID, path string) (string, error) {
		content, err := all.ContentAt(ctx, orgID, path)
		if core.IsNotFound(err) || errors.Is(err, assets.ErrLost) || err == nil && len(content) > maxDataURL {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		return "data:" + header.Read(content).Type + ";base64," + base64.StdEncoding.EncodeToString(content), nil
	}
}

// Finish returns the function that finishes content before it is sent, with the images and the mail
// settings of the organization.
func Finish(settings *mailsettings.MailSettings, all *assets.Assets) templates.Images {
	shown := Resolve(all)
	return func(ctx context.Context, orgID string, content sending.Template) (sending.Template, error) {
		s, err := settings.Of(ctx, orgID)
		if err != nil {
			return sending.Template{}, err
		}
		if content, err = shown(ctx, orgID, content); err != nil {
			return sending.Template{}, err
		}
		return templates.Finish(content, s), nil
	}
}

// Definitions reads definitions for bundles. The images are those of Assets, and the other kinds
// those of Store.
type Definitions struct {
	bundles.Store
	Assets *assets.Assets
}

// AddDefinitions adds the definitions of a kind; see [bundles.Store].
func (d Definitions) AddDefinitions(ctx context.Context, orgID string, kind definitions.Kind, held *bundles.Held) error {
	if kind != definitions.KindImage {
		return d.Store.AddDefinitions(ctx, orgID, kind, held)
	}
	var contents map[string][]byte
	if !held.WithoutContents {
		var err error
		if contents, err = d.Assets.Contents(ctx, orgID, archive.MaxContent); err != nil {
			return err
		}
	}
	versions, err := d.Assets.Hashes(ctx, orgID)
	if err != nil {
		return err
	}
	held.Set.Declared[kind] = true
	for path, version := range versions {
		image := definitions.Image{Path: path, Hash: version.Hash}
		if !held.WithoutContents {
			content, read := contents[path]
			if !read { // archived or added in between
				continue
			}
			image = definitions.Image{Path: path, Content: content}
		}
		held.Set.Images = append(held.Set.Images, image)
		if version.Origin == core.GitOrigin {
			held.FromGit[definitions.Ref{Kind: kind, Key: path}] = true
		}
	}
	held.Set.Sort()
	return nil
}
