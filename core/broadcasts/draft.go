package broadcasts

import (
	"context"
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/mailhtml"
)

// maxHTML is the maximum size of inline HTML, in bytes.
const maxHTML = 500_000

// maxRate is the maximum of the own rate of a broadcast, in messages a minute.
const maxRate = 1_000_000

// Definition is what a caller decides about a broadcast.
type Definition struct {
	Name            string         `json:"name" jsonschema:"minLength=1,maxLength=200" jsonschema_description:"Name for people; recipients do not see it."`
	TemplateID      string         `json:"template_id,omitempty" jsonschema:"maxLength=256" jsonschema_description:"Slug of a template. Give this or html."`
	TemplateVersion int            `json:"template_version,omitempty" jsonschema:"minimum=1" jsonschema_description:"Version of the template. Default: the newest when the send begins."`
	TemplateData    map[string]any `json:"template_data,omitempty" jsonschema:"maxProperties=200" jsonschema_description:"Values of variables for all recipients. A contact's attribute of the same name wins."`
	HTML            string         `json:"html,omitempty" jsonschema:"maxLength=500000" jsonschema_description:"Inline HTML with Handlebars, at most 500 KB. Give this or template_id."`
	Text            string         `json:"text,omitempty" jsonschema:"maxLength=500000" jsonschema_description:"Plain text beside html. Default: derived from html."`
	AudienceKind    AudienceKind   `json:"audience_kind" jsonschema:"enum=list,enum=segment" jsonschema_description:"Whether audience_id names a list or a segment."`
	AudienceID      string         `json:"audience_id" jsonschema:"minLength=1,maxLength=64" jsonschema_description:"Id or key of the list or segment."`
	TopicID         *string        `json:"topic_id,omitempty" jsonschema:"maxLength=64" jsonschema_description:"Name of the topic: subscribers of it get the mail. Default: none."`
	Subject         string         `json:"subject,omitempty" jsonschema:"maxLength=998" jsonschema_description:"Subject, which may use variables. Default: that of the template."`
	PreviewText     string         `json:"preview_text,omitempty" jsonschema:"maxLength=300" jsonschema_description:"Text that mail clients show beside the subject."`
	FromIdentity    string         `json:"from_identity,omitempty" jsonschema:"maxLength=320" jsonschema_description:"Sender: a verified address, an address of a verified domain, or either with a name as in Ada <ada@example.com>. Default: no-reply at the verified domain."`
	RatePerMinute   int            `json:"rate_per_minute,omitempty" jsonschema:"minimum=1,maximum=1000000" jsonschema_description:"Greatest number of messages a minute. Default: as many as the account takes."`
}

// apply sets what the definition decides on a broadcast. It fails with
// core.CodeValidationFailed and names each fault.
func (b *renderer) apply(ctx context.Context, orgID string, d Definition, to Broadcast) (Broadcast, error) {
	faults := d.check()
	audience, err := b.Audiences.Audience(ctx, orgID, d.AudienceKind, d.AudienceID)
	switch {
	case core.IsNotFound(err):
		faults = append(faults, core.FieldError{Field: "audience_id", Reason: "is not the id or key of an active " + string(d.AudienceKind) + " of this organization"})
	case err != nil:
		return Broadcast{}, err
	}
	to.Name, to.Template, to.TemplateVersion, to.Data, to.HTML, to.Text = strings.TrimSpace(d.Name), d.TemplateID, d.TemplateVersion, d.TemplateData, d.HTML, d.Text
	to.AudienceKind, to.AudienceID, to.Topic = d.AudienceKind, audience.ID, ""
	to.Subject, to.PreviewText, to.From, to.Rate = d.Subject, d.PreviewText, d.FromIdentity, d.RatePerMinute
	if d.TopicID != nil {
		to.Topic = *d.TopicID
	}
	for _, check := range []func(context.Context, string, Broadcast) (*core.FieldError, error){b.checkTopic, b.checkSender, b.checkContent} {
		fault, err := check(ctx, orgID, to)
		if err != nil {
			return Broadcast{}, err
		}
		if fault != nil {
			faults = append(faults, *fault)
		}
	}
	if len(faults) > 0 {
		return Broadcast{}, core.InvalidFields(faults...)
	}
	return to, nil
}

// check returns the faults that the definition has by itself.
func (d Definition) check() []core.FieldError {
	var faults []core.FieldError
	add := func(field, reason string) { faults = append(faults, core.FieldError{Field: field, Reason: reason}) }
	if strings.TrimSpace(d.Name) == "" {
		add("name", "must not be blank")
	}
	for _, limit := range d.limits() {
		if length := utf8.RuneCountInString(limit.text); length > limit.most {
			add(limit.field, fmt.Sprintf("has %d characters; at most %d are allowed", length, limit.most))
		}
	}
	if d.RatePerMinute < 0 || d.RatePerMinute > maxRate {
		add("rate_per_minute", fmt.Sprintf("must be from 1 to %d", maxRate))
	}
	if d.TemplateVersion < 0 {
		add("template_version", "must be at least 1")
	}
	switch {
	case d.TemplateID == "" && d.HTML == "":
		add("template_id", "or `html` is required, because a broadcast needs one content")
	case d.TemplateID != "" && (d.HTML != "" || d.Text != ""):
		add("html", "and `text` exclude `template_id`; send one content")
	case d.HTML != "" && len(d.HTML) > maxHTML:
		add("html", fmt.Sprintf("has %d bytes; at most %d are allowed", len(d.HTML), maxHTML))
	case d.HTML != "" && !utf8.ValidString(d.HTML):
		add("html", "is not valid UTF-8")
	case d.HTML != "" && !mailhtml.HasTag(d.HTML):
		add("html", "has no HTML tag; write paragraphs as <p>...</p>")
	case d.HTML != "" && d.Subject == "":
		add("subject", "is required for inline content")
	}
	if d.TemplateID == "" && d.TemplateVersion != 0 {
		add("template_version", "needs `template_id`")
	}
	for field, text := range map[string]string{"subject": d.Subject, "preview_text": d.PreviewText} {
		if strings.ContainsAny(text, "\r\n") {
			add(field, "must be one line")
		}
	}
	return faults
}

// limit is the maximum length of a field, in characters.
type limit struct {
	field, text string
	most        int
}

// limits returns the maximum lengths that the schemas of operations state too. Pages, which
// change a broadcast without an operation, rely on the check.
func (d Definition) limits() []limit {
	return []limit{
		{"name", d.Name, 200},
		{"template_id", d.TemplateID, 256},
		{"text", d.Text, maxHTML},
		{"subject", d.Subject, 998},
		{"preview_text", d.PreviewText, 300},
		{"from_identity", d.FromIdentity, 320},
	}
}

// checkTopic returns the fault of the topic, nil for none.
func (b *renderer) checkTopic(ctx context.Context, orgID string, of Broadcast) (*core.FieldError, error) {
	if of.Topic == "" {
		return nil, nil
	}
	_, err := b.Topics.Topic(ctx, orgID, of.Topic)
	if core.IsNotFound(err) {
		return &core.FieldError{Field: "topic_id", Reason: "is not the name of a topic of this organization; GET /v1/topics has them"}, nil
	}
	return nil, err
}

// checkSender returns the fault of the sender, nil for none.
func (b *renderer) checkSender(ctx context.Context, orgID string, of Broadcast) (*core.FieldError, error) {
	if of.From == "" {
		return nil, nil
	}
	address, err := senderAddress(of.From)
	if err != nil {
		return &core.FieldError{Field: "from_identity", Reason: err.Error()}, nil
	}
	verified, err := b.Senders.IsVerified(ctx, orgID, address)
	if err != nil || verified {
		return nil, err
	}
	return &core.FieldError{Field: "from_identity", Reason: "is not a verified identity, and its domain is none; GET /v1/identities has the verified ones"}, nil
}

// senderAddress returns the address of a sender, which may have a display name (RFC 5322
// section 3.4).
func senderAddress(sender string) (string, error) {
	parsed, err := mail.ParseAddress(sender)
	if err != nil || strings.ContainsAny(sender, "\r\n") {
		return "", errors.New("is not an address such as news@example.com or Ada <ada@example.com>")
	}
	if !core.IsEmail(parsed.Address) {
		return "", errors.New("has an address that mail cannot be sent from; use letters, digits and a domain such as example.com")
	}
	return parsed.Address, nil
}

// checkContent returns the fault of the content, nil for none.
func (b *renderer) checkContent(ctx context.Context, orgID string, of Broadcast) (*core.FieldError, error) {
	if of.Template == "" && of.HTML == "" {
		return nil, nil // check has said so
	}
	_, err := b.mail(ctx, orgID, of)
	return contentFault(of, err)
}

// contentFault converts the error of reading or compiling the content into the fault of a
// field. Other errors stay as they are.
func contentFault(of Broadcast, err error) (*core.FieldError, error) {
	refusal, ok := errors.AsType[*core.Error](err)
	switch {
	case err == nil:
		return nil, nil
	case ok && refusal.Code == core.CodeNotFound && of.TemplateVersion != 0:
		return &core.FieldError{Field: "template_version", Reason: fmt.Sprintf("is %d, but the template %s has no such version, or does not exist", of.TemplateVersion, core.Quote(of.Template))}, nil
	case ok && refusal.Code == core.CodeNotFound:
		return &core.FieldError{Field: "template_id", Reason: "is not the slug of a template; templates_list has them"}, nil
	case ok && refusal.Code == core.CodeValidationFailed && of.Template != "":
		return &core.FieldError{Field: "template_id", Reason: "names a template that cannot be sent: " + refusal.Message}, nil
	case ok && refusal.Code == core.CodeValidationFailed:
		return &core.FieldError{Field: "html", Reason: "cannot be sent: " + refusal.Message}, nil
	}
	return nil, err
}
