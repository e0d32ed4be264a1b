package outgoing

import (
	"context"

	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/templates"
)

// Templates reads the content of templates; it is a [broadcasts.Templates].
type Templates struct{ Templates *templates.Templates }

// Template returns the content of a version of a template.
func (t Templates) Template(ctx context.Context, orgID, slug string, number int) (broadcasts.Template, error) {
	found, err := t.Templates.Version(ctx, orgID, slug, number)
	return broadcasts.Template{Subject: found.Subject, HTML: found.HTML, Text: found.Text, Name: found.DeployedName}, err
}

// NewestTemplate returns the function that reads the newest content of a template for a
// test.
func NewestTemplate(t *templates.Templates) func(ctx context.Context, orgID, slug string) (sending.Template, string, error) {
	return func(ctx context.Context, orgID, slug string) (sending.Template, string, error) {
		found, err := t.Version(ctx, orgID, slug, 0)
		return found.Content(), found.DeployedName, err
	}
}

// NewestContent reads the newest content of templates; it is a [mailing.Templates].
type NewestContent struct{ Templates *templates.Templates }

// Content returns the newest content of a template.
func (n NewestContent) Content(ctx context.Context, orgID, slug string) (sending.Template, string, error) {
	return NewestTemplate(n.Templates)(ctx, orgID, slug)
}
