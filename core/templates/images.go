package templates

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/handlebars"
	"github.com/mailhelm/mailhelm/core/jobs"
	"github.com/mailhelm/mailhelm/core/mailhtml"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Images returns content in which the images of an organization have their public addresses.
type Images func(ctx context.Context, orgID string, content sending.Template) (sending.Template, error)

// ImagePaths returns the paths that the content names by {{asset "path"}} and by relative values of
// src, sorted. A path is one of a bundle or of the repository: without "./" at its start, and without
// percent-encoding. Parts with faults name none.
func ImagePaths(content sending.Template) []string {
	var paths []string
	ResolveImages(content, func(path string) (string, bool) {
		paths = append(paths, path)
		return "", false
	})
	slices.Sort(paths)
	return slices.Compact(paths)
}

// ResolveImages returns content in which {{asset "path"}} and relative values of src are the addresses
// of the images at these paths. address returns the address of a path, or false for a path that stays
// as written. Addresses must not have braces. Parts with faults, and parts that the addresses would
// make invalid, stay as written.
func ResolveImages(content sending.Template, address func(path string) (string, bool)) sending.Template {
	find := func(name string) (string, bool) {
		if !isRelative(name) {
			return "", false
		}
		return address(strings.TrimPrefix(name, "./"))
	}
	if content.HTML != "" {
		content.HTML = ifValid(content.HTML, handlebars.HTML, func(source string) (string, error) {
			source, err := handlebars.ReplaceAssets(source, handlebars.HTML, find)
			if err != nil {
				return "", err
			}
			return mailhtml.ReplaceSources(source, func(src string) (string, bool) {
				if name, err := url.PathUnescape(src); err == nil {
					src = name
				}
				return find(src)
			}), nil
		})
	}
	if content.Text != "" {
		content.Text = ifValid(content.Text, handlebars.Text, func(source string) (string, error) {
			return handlebars.ReplaceAssets(source, handlebars.Text, find)
		})
	}
	return content
}

// ManagedContent is the newest content of a managed template.
type ManagedContent struct {
	ID, Slug, Subject, HTML, Text string
}

// contentsAtOnce is how many contents are in memory at the same time.
const contentsAtOnce = 20

// ImageUse is a managed template with the paths of images that its newest version names.
type ImageUse struct {
	TemplateID, Slug string
	Paths            []string
}

// ImageUses finds the managed templates that name images. All fields are required, except Queue:
// without it, the periodic job deploys templates whose images have changed.
type ImageUses struct {
	Deployed DeployStore
	Queue    jobs.Queue
	Clock    core.Clock
}

// Of returns the managed templates of an organization that name images, sorted by slug. It reads all
// templates.
func (u ImageUses) Of(ctx context.Context, orgID string) ([]ImageUse, error) {
	var uses []ImageUse
	for after := ""; ; {
		page, err := u.Deployed.ManagedContents(ctx, orgID, after, contentsAtOnce)
		if err != nil {
			return nil, err
		}
		for _, c := range page {
			if paths := ImagePaths(sending.Template{HTML: c.HTML, Text: c.Text}); len(paths) > 0 {
				uses = append(uses, ImageUse{c.ID, c.Slug, paths})
			}
			after = c.ID
		}
		if len(page) < contentsAtOnce {
			slices.SortFunc(uses, func(a, b ImageUse) int { return strings.Compare(a.Slug, b.Slug) })
			return uses, nil
		}
	}
}

// OnChange lets the managed templates that name one of these paths be deployed again. Call it in the
// transaction in which the images change.
func (u ImageUses) OnChange(ctx context.Context, orgID string, paths []string) error {
	uses, err := u.Of(ctx, orgID)
	if err != nil {
		return err
	}
	var ids []string
	for _, use := range uses {
		if slices.ContainsFunc(use.Paths, func(path string) bool { return slices.Contains(paths, path) }) {
			ids = append(ids, use.TemplateID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	if err := u.Deployed.SaveImagesChanged(ctx, orgID, ids, u.Clock()); err != nil || u.Queue == nil {
		return err
	}
	return u.Queue.Enqueue(ctx, DeployArgs{OrgID: orgID})
}
