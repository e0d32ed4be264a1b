package broadcasts

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/composition"
	"github.com/mailhelm/mailhelm/core/sending"
)

// content returns what the messages of a broadcast share: the frozen content of one that
// sends or has sent, else the content as it is now.
func (b *renderer) content(ctx context.Context, orgID string, of Broadcast) (composition.Content, error) {
	if of.Frozen != "" {
		var frozen composition.Content
		err := json.Unmarshal([]byte(of.Frozen), &frozen)
		return frozen, err
	}
	content := composition.Content{Subject: of.Subject, HTML: of.HTML, Text: of.Text, PreviewText: of.PreviewText, From: of.From, Data: of.Data}
	if of.UsesTemplate() {
		version, err := b.Templates.Template(ctx, orgID, of.Template, of.TemplateVersion)
		if err != nil {
			return composition.Content{}, err
		}
		content.HTML, content.Text, content.Subject = version.HTML, version.Text, cmp.Or(of.Subject, version.Subject)
		content.Template = version.Name
	}
	finished, err := b.Finish(ctx, orgID, sending.Template{Subject: content.Subject, HTML: content.HTML, Text: content.Text})
	if err != nil {
		return composition.Content{}, err
	}
	content.HTML, content.Text = finished.HTML, finished.Text
	if content.From == "" {
		content.From, err = b.Senders.Default(ctx, orgID)
	}
	if err == nil {
		content.Channel, err = b.Senders.Channel(ctx, orgID)
	}
	return content, err
}

// mail returns the compiled content of a broadcast. It fails with core.CodeNotFound if the
// template or its version does not exist, and with core.CodeValidationFailed if the content
// has faults.
func (b *renderer) mail(ctx context.Context, orgID string, of Broadcast) (*composition.Mail, error) {
	content, err := b.content(ctx, orgID, of)
	if err != nil {
		return nil, err
	}
	return content.Compile()
}

// frozen returns content as JSON, for storing it at the start of a send.
func frozen(content composition.Content) (string, error) {
	text, err := json.Marshal(content)
	if err != nil {
		return "", fmt.Errorf("broadcasts: content: %w", err)
	}
	return string(text), nil
}

// noSender is the refusal to send without a verified domain.
func noSender() *core.Error {
	return core.Invalid("from_identity", "is required, because the organization has no verified domain for the default sender; verify a domain or an address at the sending account")
}

// attributesOf returns the values of a contact's attributes.
func attributesOf(m Member) (map[string]any, error) {
	var values map[string]any
	if err := json.Unmarshal(m.Attributes, &values); err != nil {
		return nil, fmt.Errorf("broadcasts: attributes of a contact: %w", err)
	}
	return values, nil
}

// recipientOf returns the data with which the message to a member is rendered.
func (b *renderer) recipientOf(orgID string, of Broadcast, m Member) (composition.Recipient, error) {
	values, err := attributesOf(m)
	if err != nil {
		return composition.Recipient{}, err
	}
	links, err := b.Links.Links(orgID, m.ContactID, of.Topic, of.ID)
	return composition.Recipient{Email: m.Email, Attributes: values, Links: links}, err
}

// testRecipientOf is recipientOf for previews and tests, whose links change nothing: the
// people who see them are not the member.
func (b *renderer) testRecipientOf(orgID string, of Broadcast, m Member) (composition.Recipient, error) {
	m.ContactID = ""
	return b.recipientOf(orgID, of, m)
}
