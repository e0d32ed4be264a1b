package templates

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
)

// ListTemplatesIn has the filters, the page size and the cursor for a page of templates.
type ListTemplatesIn struct {
	Query    string `json:"query,omitempty" only:"agent" jsonschema:"maxLength=100" jsonschema_description:"Only templates with this text in name, slug or subject, in any case. Default: all."`
	Tag      string `json:"tag,omitempty" jsonschema:"maxLength=100" jsonschema_description:"Only templates with exactly this tag. Default: all."`
	Untagged bool   `json:"untagged,omitempty" only:"rest" jsonschema_description:"Only templates without a tag. Excludes tag."`
	Limit    int    `json:"limit,omitempty" only:"rest" jsonschema:"minimum=1,maximum=200,default=50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor   string `json:"cursor,omitempty" only:"rest" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`
}

func (t *Templates) templatesList() core.Operation {
	return core.Declare(core.Op[ListTemplatesIn, core.Page[Template]]{
		Name:  "templates_list",
		Title: "List templates",
		Purpose: "Lists email templates, newest first: those written here, and those of the sending account. " +
			"Use it to find a template's slug or content hash. Returns names and subjects. It does not show content.",
		Example: `{}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.TemplatesView},

		ArgumentScopes: map[string]core.Scope{"tag": core.TagsView, "untagged": core.TagsView},
		Do:             t.listTemplates,
	})
}

func (t *Templates) listTemplates(ctx context.Context, c *core.Call, in ListTemplatesIn) (core.Page[Template], error) {
	if in.Tag != "" && in.Untagged {
		return core.Page[Template]{}, core.Invalid("untagged", "excludes `tag`")
	}
	if err := checkTagScope(c, in); err != nil {
		return core.Page[Template]{}, err
	}
	org, filter := c.Principal.Org.ID, fmt.Sprintf("templates %q %q %v", in.Query, in.Tag, in.Untagged)
	after, err := core.AfterCursor(filter, in.Cursor)
	if err != nil {
		return core.Page[Template]{}, err
	}
	f := Filter{Query: in.Query, Tag: in.Tag, Untagged: in.Untagged, After: after, Limit: core.Limit(in.Limit)}
	page, err := t.page(ctx, org, filter, f)
	if err == nil && c.Surface == core.Agent {
		page.Total, err = t.Store.CountTemplates(ctx, org, f)
	}
	return page, err
}

// checkTagScope refuses a filter by tags without the scope of tags.
func checkTagScope(c *core.Call, in ListTemplatesIn) error {
	for _, filter := range []struct {
		argument string
		used     bool
	}{{"tag", in.Tag != ""}, {"untagged", in.Untagged}} {
		if filter.used && !c.Principal.Scopes.Has(core.TagsView) {
			return core.MissingScope(c, filter.argument, core.TagsView)
		}
	}
	return nil
}

// Search returns a page of an organization's templates whose name, slug or subject contains
// the query, in any case, newest first. limit is the page size. cursor is the Next of the
// previous page, "" for the first. Search fails with validation_failed for the cursor of
// another query.
func (t *Templates) Search(ctx context.Context, orgID, query, cursor string, limit int) (core.Page[Template], error) {
	filter := fmt.Sprintf("search of templates %q", query)
	after, err := core.AfterCursor(filter, cursor)
	if err != nil {
		return core.Page[Template]{}, err
	}
	return t.page(ctx, orgID, filter, Filter{Query: query, After: after, Limit: limit})
}

// page returns a page of templates. f.Limit is the page size, and filter the text for which
// the cursor of the next page is valid.
func (t *Templates) page(ctx context.Context, orgID, filter string, f Filter) (core.Page[Template], error) {
	limit := f.Limit
	f.Limit++ // one more row tells whether there is a next page
	rows, err := t.Store.Templates(ctx, orgID, f)
	if err != nil {
		return core.Page[Template]{}, err
	}
	for i := range rows {
		rows[i] = rows[i].complete()
	}
	return core.PageOf(rows, limit, filter, func(row Template) core.After { return core.After{At: row.CreatedAt, ID: row.ID} }), nil
}

// GetTemplateIn has the slug of a template.
type GetTemplateIn struct {
	Slug string `json:"slug" jsonschema:"minLength=1,maxLength=256" jsonschema_description:"The template's slug."`
}

func (t *Templates) templatesGet() core.Operation {
	return core.Declare(core.Op[GetTemplateIn, Detail]{
		Name:    "templates_get",
		Title:   "Read a template",
		Purpose: "Reads one template with its content, variables and test data. A template of the sending account is as of the last sync.",
		Example: `{"slug": "welcome"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.TemplatesView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in GetTemplateIn) (Detail, error) {
			row, content, err := t.Store.Template(ctx, c.Principal.Org.ID, in.Slug)
			if err != nil {
				return Detail{}, err
			}
			return detail(row, content)
		},
	})
}
