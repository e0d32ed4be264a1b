package sending

import (
	"context"
	"time"
)

// Templates are the templates that the account holds, by name.
type Templates interface {
	// TemplatesPage reads a page of names, in the account's own order. token is ""
	// for the first page; next is "" after the last.
	TemplatesPage(ctx context.Context, orgID, token string) (page []TemplateName, next string, err error)
	// Template reads one with its content; NotFound when the account has none of
	// this name.
	Template(ctx context.Context, orgID, name string) (Template, error)
	// PutTemplate creates the template or replaces its content.
	PutTemplate(ctx context.Context, orgID string, t Template) error
	// DeleteTemplate removes one. One that is not there is no failure.
	DeleteTemplate(ctx context.Context, orgID, name string) error
}

// TemplateName is a template as a listing shows it.
type TemplateName struct {
	Name      string
	CreatedAt time.Time
}

// Template is the content that the account renders. Text or HTML may be "".
type Template struct {
	Name, Subject, Text, HTML string
}
