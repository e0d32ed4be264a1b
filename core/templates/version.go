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
	if number != 0 {
		return t.Managed.VersionBySlug(ctx, orgID, slug, number)
	}
	found, err := t.Managed.ManagedBySlug(ctx, orgID, slug)
	if !core.IsNotFound(err) {
		return found.Newest, err
	}
	row, content, err := t.Store.Template(ctx, orgID, slug)
	if err != nil {
		return Version{}, err
	}
	return Version{Subject: content.Subject, HTML: content.HTML, Text: content.Text, Hash: row.ContentHash, SavedAt: row.LastModified}, nil
}

// Content returns the parts of the version, as [Compile] takes them.
func (v Version) Content() sending.Template {
	return sending.Template{Subject: v.Subject, HTML: v.HTML, Text: v.Text}
}
