package testsends

import (
	"context"
	"maps"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/composition"
	"github.com/mailhelm/mailhelm/core/sending"
)

// TemplatesConfig configures [Templates]. All fields are required.
type TemplatesConfig struct {
	Sends *Sends
	// Content returns the newest content of the template with the slug. name is its name in
	// events and reports. It fails with core.CodeNotFound for an unknown slug.
	Content func(ctx context.Context, orgID, slug string) (content sending.Template, name string, err error)
	// Finish completes the content of a mail with the organization's footer, postal address
	// and asset addresses.
	Finish  func(ctx context.Context, orgID string, content sending.Template) (sending.Template, error)
	Senders Senders
	Links   interface {
		// Links returns the links of a test, for which contactID and sendID are "".
		Links(orgID, contactID, topic, sendID string) (composition.Links, error)
	}
}

// Senders knows from which address tests of templates come.
type Senders interface {
	// Default returns the default sender, "" if the organization has no verified domain.
	Default(ctx context.Context, orgID string) (string, error)
	// Channel returns the name of the configuration set to send with, "" for the default of
	// the account.
	Channel(ctx context.Context, orgID string) (string, error)
}

// Templates has the operation that sends tests of templates.
type Templates struct{ TemplatesConfig }

// NewTemplates returns a Templates.
func NewTemplates(cfg TemplatesConfig) *Templates { return &Templates{cfg} }

// Operations returns the operations of this package.
func (t *Templates) Operations() []core.Operation { return []core.Operation{t.templatesTestSend()} }

// TestTemplateIn names a template and the addresses that get a test.
type TestTemplateIn struct {
	Slug       string         `json:"slug" jsonschema:"minLength=1,maxLength=256" jsonschema_description:"The template's slug, from templates_list."`
	Recipients []string       `json:"recipients" jsonschema:"minItems=1,maxItems=10" jsonschema_description:"Addresses that get the message, 1 to 10."`
	Data       map[string]any `json:"data,omitempty" jsonschema:"maxProperties=200" jsonschema_description:"Values by variable. Default: none."`

	// result has the outcomes of the messages. Prepare sets it.
	result Result
}

func (t *Templates) templatesTestSend() core.Operation {
	return core.Declare(core.Op[TestTemplateIn, Result]{
		Name:  "templates_test_send",
		Title: "Send a test of a template",
		Purpose: "Sends a template to 1 to 10 addresses, with [TEST] before the subject. " +
			"Use it to see a mail in a real mailbox. Returns the outcome of each address. It does not change anything, and shares 10 tests an hour with broadcasts_test_send.",
		Example:       `{"slug": "welcome", "recipients": ["ada.almeida@example.com"], "data": {"first_name": "Ada"}}`,
		Effect:        core.Writes,
		ReachesPeople: true,
		IgnoresKey:    true,
		Scopes:        []core.Scope{core.TemplatesTest},
		Fails:         []core.Code{core.CodeNotFound, core.CodeRateLimited},
		Prepare:       t.prepareTest,
		Do: func(_ context.Context, _ *core.Call, in TestTemplateIn) (Result, error) {
			return in.result, nil
		},
	})
}

// prepareTest sends the messages, which calls the sending account.
func (t *Templates) prepareTest(ctx context.Context, c *core.Call, in TestTemplateIn) (TestTemplateIn, error) {
	org := c.Principal.Org.ID
	addresses, err := Addresses(in.Recipients)
	if err != nil {
		return in, err
	}
	mail, err := t.mail(ctx, org, in)
	if err != nil {
		return in, err
	}
	links, err := t.Links.Links(org, "", "", "")
	if err != nil {
		return in, err
	}
	in.result, err = t.Sends.Send(ctx, c, Request{
		Kind: "template", SubjectID: in.Slug, Addresses: addresses,
		Message: func(_ context.Context, address string) (sending.Message, error) {
			return mail.Message(composition.Recipient{Email: address, Links: links})
		},
	})
	return in, err
}

// mail compiles the newest content of the template with the data of the call.
func (t *Templates) mail(ctx context.Context, orgID string, in TestTemplateIn) (*composition.Mail, error) {
	source, name, err := t.Content(ctx, orgID, in.Slug)
	if err != nil {
		return nil, err
	}
	finished, err := t.Finish(ctx, orgID, source)
	if err != nil {
		return nil, err
	}
	content := composition.Content{
		Subject: finished.Subject, HTML: finished.HTML, Text: finished.Text, Template: name, Data: maps.Clone(in.Data),
	}
	if content.From, err = t.Senders.Default(ctx, orgID); err != nil {
		return nil, err
	}
	if content.From == "" {
		return nil, core.Conflict("The organization has no verified domain, so there is no sender for a test of a template.", "Verify a domain at the sending account, or test a broadcast with `from_identity`.")
	}
	if content.Channel, err = t.Senders.Channel(ctx, orgID); err != nil {
		return nil, err
	}
	return content.Compile()
}
