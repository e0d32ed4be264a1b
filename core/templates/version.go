package templates

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Version returns the content of a template that other packages send. number names a saved
// version of a managed template; 0 means the newest. A copy of the account's template has
// no versions: 0 returns its content, with the number 0 and without author and message.
// Version fails with core.CodeNotFound for an unknown slug and for an unknown number, and with
// core.CodeValidationFailed for a template of the repository that was never valid.
func (t *Templates) Version(ctx context.Context, orgID, slug string, number int) (Version, error) {
	found, err := t.Managed.ManagedBySlug(ctx, orgID, slug)
	if core.IsNotFound(err) && number == 0 {
		return t.copied(ctx, orgID, slug)
	}
	if err != nil {
		return Version{}, err
	}
	version := found.Newest
	if version.Number == 0 {
		return Version{}, neverValid(slug, found.Faults)
	}
	if number != 0 && number != version.Number {
		version, err = t.Managed.VersionBySlug(ctx, orgID, slug, number)
	}
	version.DeployedName = found.DeployedName
	return version, err
}

// copied returns the copy of the account's template with the slug.
func (t *Templates) copied(ctx context.Context, orgID, slug string) (Version, error) {
	row, content, err := t.Store.Template(ctx, orgID, slug)
	if err != nil {
		return Version{}, err
	}
	return Version{
		Subject: content.Subject, HTML: content.HTML, Text: content.Text, Hash: row.ContentHash, SavedAt: row.LastModified, DeployedName: row.Name,
	}, nil
}

// History returns a page of the versions of a managed template without their HTML and text,
// the newest first, and the number to pass as before for the next page, 0 on the last page.
// before 0 selects the first page. limit is the page size. History fails with
// core.CodeNotFound for an unknown slug and for a copy of the account's template.
func (t *Templates) History(ctx context.Context, orgID, slug string, before, limit int) (versions []Version, next int, err error) {
	found, err := t.Managed.ManagedBySlug(ctx, orgID, slug)
	if err != nil {
		return nil, 0, err
	}
	if before == 0 {
		before = found.Newest.Number + 1
	}
	versions, err = t.Managed.Versions(ctx, orgID, found.ID, before, limit)
	if n := len(versions); n > 0 && versions[n-1].Number > 1 {
		next = versions[n-1].Number
	}
	return versions, next, err
}

// Content returns the parts of the version, as [Compile] takes them.
func (v Version) Content() sending.Template {
	return sending.Template{Subject: v.Subject, HTML: v.HTML, Text: v.Text}
}
