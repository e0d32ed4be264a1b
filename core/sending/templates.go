package sending

import (
	"context"
	"time"
)

// Templates are the templates that the account holds, by name.
type Templates interface {
	// TemplatesPage returns a page of names, in the account's own order. token is ""
	// for the first page; next is "" after the last page.
	TemplatesPage(ctx context.Context, orgID, token string) (page []TemplateName, next string, err error)
	// Template returns a template with its content. It fails with NotFound when the
	// account has none of this name.
	Template(ctx context.Context, orgID, name string) (Template, error)
	// PutTemplate creates the template or replaces its content.
	PutTemplate(ctx context.Context, orgID string, t Template) error
	// DeleteTemplate removes a template. It succeeds when the template does not exist.
	DeleteTemplate(ctx context.Context, orgID, name string) error
}

// TemplateName is a template in a listing.
type TemplateName struct {
	Name      string
	CreatedAt time.Time
}

// Template is the content that the account renders. Text or HTML may be "".
type Template struct {
	Name, Subject, Text, HTML string
}
