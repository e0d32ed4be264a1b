package templates

import (
	"context"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
)

// People reads the data of contacts that messages may show.
type People interface {
	// MessageData returns the values of a contact's attributes by name, and its address as
	// "email". It fails with core.CodeNotFound if the contact does not exist.
	MessageData(ctx context.Context, orgID, contactID string) (map[string]any, error)
}

// maxShownHTML and maxShownText are the numbers of bytes of rendered HTML and text that the
// tool returns. They bound what an agent has to read.
const (
	maxShownHTML = 32 << 10
	maxShownText = 8 << 10
)

// sampleLinks are the values of the reserved names that only a message has. The domain
// "invalid" does not exist (RFC 2606).
var sampleLinks = map[string]any{
	"unsubscribe_url": "https://preview.invalid/unsubscribe",
	"preferences_url": "https://preview.invalid/preferences",
}

// RenderTemplateIn names a template and has the data to render it with.
type RenderTemplateIn struct {
	Slug      string         `json:"slug" jsonschema:"minLength=1,maxLength=256" jsonschema_description:"From templates_list."`
	Data      map[string]any `json:"data,omitempty" jsonschema_description:"Values by variable, such as {\"first_name\": \"Ada\"}. Default: none."`
	ContactID string         `json:"contact_id,omitempty" jsonschema:"format=uuid" jsonschema_description:"Renders for this contact: its attributes and email win over data."`
	Profile   string         `json:"profile,omitempty" jsonschema:"maxLength=100" jsonschema_description:"A set of the template's test data. data wins over it."`
}

// RenderedTemplate is a template as one recipient would get it.
type RenderedTemplate struct {
	Subject string   `json:"subject" voice:"untrusted"`
	HTML    string   `json:"html" voice:"untrusted" jsonschema_description:"At most 32 KB."`
	Text    string   `json:"text" voice:"untrusted" jsonschema_description:"At most 8 KB; derived from the HTML if the template has none."`
	Missing []string `json:"missing_variables" voice:"untrusted" jsonschema_description:"Variables without a value. They print nothing."`
	// Validation and Diagnostics are those of the template. A template with faults that is
	// rendered nevertheless comes from the repository, and what is rendered is its last valid
	// content.
	Validation  string   `json:"validation_status" jsonschema:"enum=valid,enum=invalid" jsonschema_description:"invalid: the newest files in the repository have faults, and this is the last valid content."`
	Diagnostics []string `json:"diagnostics" voice:"untrusted" jsonschema_description:"What is wrong with the newest files."`
	// Truncated says that HTML or Text was cut.
	Truncated bool `json:"truncated" jsonschema_description:"Whether html or text is cut."`
}

func (t *Templates) templatesRender() core.Operation {
	return core.Declare(core.Op[RenderTemplateIn, RenderedTemplate]{
		Name:  "templates_render",
		Title: "Render a template",
		Purpose: "Renders a template with data or for a contact. " +
			"Use it to see what a recipient would get. Returns subject, HTML, text and the variables without a value. It does not send.",
		Example:        `{"slug": "welcome", "data": {"first_name": "Ada"}}`,
		Effect:         core.Reads,
		Cost:           core.Light,
		Scopes:         []core.Scope{core.TemplatesView},
		ArgumentScopes: map[string]core.Scope{"contact_id": core.ContactsView},
		Fails:          []core.Code{core.CodeNotFound},
		Do:             t.renderTemplate,
	})
}

func (t *Templates) renderTemplate(ctx context.Context, c *core.Call, in RenderTemplateIn) (RenderedTemplate, error) {
	if in.ContactID != "" && !c.Principal.Scopes.Has(core.ContactsView) {
		return RenderedTemplate{}, core.MissingScope(c, "contact_id", core.ContactsView)
	}
	org := c.Principal.Org.ID
	row, content, err := t.Store.Template(ctx, org, in.Slug)
	if err != nil {
		return RenderedTemplate{}, err
	}
	if !row.isSendable() {
		return RenderedTemplate{}, neverValid(in.Slug, row.Faults)
	}
	data, err := t.dataOf(ctx, org, row.TestData, PreviewData{Profile: in.Profile, Values: in.Data, ContactID: in.ContactID})
	if err != nil {
		return RenderedTemplate{}, err
	}
	if t.Images != nil {
		if content, err = t.Images(ctx, org, content); err != nil {
			return RenderedTemplate{}, err
		}
	}
	compiled, err := Compile(content)
	if err != nil {
		return RenderedTemplate{}, err
	}
	if row.Source == Import { // it has no faults, although a sync may have found some before
		row.Faults = nil
	}
	rendered, missing, err := compiled.Render(data)
	if err != nil {
		return RenderedTemplate{}, err
	}
	out := RenderedTemplate{
		Subject: rendered.Subject, Missing: append([]string{}, missing...), Validation: row.complete().Validation, Diagnostics: append([]string{}, row.Faults...),
	}
	var cutHTML, cutText bool
	out.HTML, cutHTML = cutTo(rendered.HTML, maxShownHTML)
	out.Text, cutText = cutTo(rendered.Text, maxShownText)
	out.Truncated = cutHTML || cutText
	return out, nil
}

// cutTo returns the first bytes of a text, at most limit, without a part of a character. It
// reports whether the text was cut.
func cutTo(text string, limit int) (string, bool) {
	if len(text) <= limit {
		return text, false
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit], true
}
