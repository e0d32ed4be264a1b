package sending

import (
	"context"
	"time"
)

// Templates reads and writes the mail templates that an account stores, by name.
type Templates interface {
	// TemplatesPage returns a page of template names, in the account's own order. token is
	// "" for the first page; next is "" after the last page.
	TemplatesPage(ctx context.Context, orgID, token string) (page []TemplateName, next string, err error)
	// Template returns the template with this name and its content. It fails with NotFound
	// if it does not exist.
	Template(ctx context.Context, orgID, name string) (Template, error)
	// PutTemplate creates the template or replaces its content.
	PutTemplate(ctx context.Context, orgID string, t Template) error
	// DeleteTemplate removes a template. It succeeds when the template does not exist.
	DeleteTemplate(ctx context.Context, orgID, name string) error
}

// TemplateName is a template in a page of names, without its content.
type TemplateName struct {
	Name      string
	CreatedAt time.Time
}

// Template is a mail template with its content, from which the account renders messages.
// Text or HTML may be "".
type Template struct {
	Name, Subject, Text, HTML string
}
