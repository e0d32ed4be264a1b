package templates

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Version returns the content of a template that other packages send. number names a saved
// version of a managed template; 0 means the newest. A copy of the account's template has
// no versions: 0 returns its content, with the number 0 and without author and message.
// Version fails with core.CodeNotFound for an unknown slug and for an unknown number.
func (t *Templates) Version(ctx context.Context, orgID, slug string, number int) (Version, error) {
	found, err := t.Managed.ManagedBySlug(ctx, orgID, slug)
	if core.IsNotFound(err) && number == 0 {
		return t.copied(ctx, orgID, slug)
	}
	if err != nil {
		return Version{}, err
	}
	version := found.Newest
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

// Content returns the parts of the version, as [Compile] takes them.
func (v Version) Content() sending.Template {
	return sending.Template{Subject: v.Subject, HTML: v.HTML, Text: v.Text}
}
