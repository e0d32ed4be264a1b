package wire

import (
	"errors"
	"net/http"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// pair is a tag or a header of a message.
type pair struct{ Name, Value string }

// tagsOf returns tags as a map from name to value. If two tags have the same name, the
// later one counts.
func tagsOf(pairs []pair) map[string]string {
	tags := make(map[string]string, len(pairs))
	for _, p := range pairs {
		tags[p.Name] = p.Value
	}
	return tags
}

// headersOf converts pairs of name and value to the headers of a message, in the same
// order.
func headersOf(pairs []pair) []sending.Header {
	headers := make([]sending.Header, len(pairs))
	for i, p := range pairs {
		headers[i] = sending.Header(p)
	}
	return headers
}

// destination has the recipients of one message.
type destination struct{ ToAddresses, CcAddresses, BccAddresses []string }

// text is the subject, the text or the HTML of a message. The charset that a request may
// name is ignored.
type text struct{ Data string }

// usedTemplate names the template of a message or has its content, with the values of its
// variables.
type usedTemplate struct {
	TemplateName, TemplateData string
	TemplateContent            *struct{ Subject, Text, HTML string }
	Attachments                []struct{}
	Headers                    []pair
}

// check fails with BadRequestException for attachments, because this imitation of SES does not
// support them. It also fails if the request does not have exactly one of the name and the
// content of a template.
func (t usedTemplate) check() error {
	if len(t.Attachments) > 0 || (t.TemplateName == "") == (t.TemplateContent == nil) {
		return badRequest("A template has a name or a content, and no attachments in this imitation.")
	}
	return nil
}

// email is the body of SendEmail. Content must have either Simple or Template.
type email struct {
	FromEmailAddress, ConfigurationSetName string
	ReplyToAddresses                       []string
	Destination                            destination
	EmailTags                              []pair
	Content                                struct {
		Simple *struct {
			Subject     text
			Body        struct{ Text, HTML text }
			Headers     []pair
			Attachments []struct{}
		}
		Template *usedTemplate
	}
}

// sendEmail serves SendEmail. If Content has both Simple and Template, it uses the
// template.
func (w *wire) sendEmail(r *http.Request) (any, error) {
	in, err := read[email](r)
	if err != nil {
		return nil, err
	}
	m := sending.Message{
		Envelope: sending.Envelope{
			From: in.FromEmailAddress, ReplyTo: in.ReplyToAddresses, ConfigurationSet: in.ConfigurationSetName, Tags: tagsOf(in.EmailTags),
		},
		To: in.Destination.ToAddresses, CC: in.Destination.CcAddresses, BCC: in.Destination.BccAddresses,
	}
	switch simple, template := in.Content.Simple, in.Content.Template; {
	case template != nil:
		if err := template.check(); err != nil {
			return nil, err
		}
		if template.TemplateContent != nil {
			return nil, badRequest("Only SendBulkEmail is imitated with templates inside the request.")
		}
		m.Headers = headersOf(template.Headers)
		m.Content = sending.Content{Template: template.TemplateName, TemplateData: template.TemplateData}
	case simple != nil && len(simple.Attachments) == 0:
		m.Headers = headersOf(simple.Headers)
		m.Content = sending.Content{Subject: simple.Subject.Data, Text: simple.Body.Text.Data, HTML: simple.Body.HTML.Data}
	default:
		return nil, badRequest("Only simple content without attachments and stored templates are imitated.")
	}
	id, err := w.account.SendTagged(r.Context(), w.org, m)
	return object{"MessageId": id}, err
}

// bulkEmail is the body of SendBulkEmail: one template, and one entry for each message.
type bulkEmail struct {
	FromEmailAddress, ConfigurationSetName string
	ReplyToAddresses                       []string
	DefaultEmailTags                       []pair
	DefaultContent                         struct{ Template usedTemplate }
	BulkEmailEntries                       []struct {
		Destination             destination
		ReplacementTags         []pair
		ReplacementHeaders      []pair
		ReplacementEmailContent struct {
			ReplacementTemplate struct{ ReplacementTemplateData string }
		}
	}
}

// sendBulkEmail serves SendBulkEmail. It refuses the whole request if an entry does not have
// exactly one recipient. Other faults of an entry are returned in the entry's result.
func (w *wire) sendBulkEmail(r *http.Request) (any, error) {
	in, err := read[bulkEmail](r)
	if err != nil {
		return nil, err
	}
	template := in.DefaultContent.Template
	if err := template.check(); err != nil {
		return nil, err
	}
	b := sending.Bulk{
		Envelope: sending.Envelope{
			From: in.FromEmailAddress, ReplyTo: in.ReplyToAddresses, ConfigurationSet: in.ConfigurationSetName,
			Tags: tagsOf(in.DefaultEmailTags), Headers: headersOf(template.Headers),
		},
		Template: template.TemplateName, DefaultData: template.TemplateData,
	}
	if template.TemplateContent != nil {
		b.Inline = sending.InlineTemplate(*template.TemplateContent)
	}
	for _, e := range in.BulkEmailEntries {
		if len(e.Destination.ToAddresses) != 1 || len(e.Destination.CcAddresses)+len(e.Destination.BccAddresses) > 0 {
			return nil, badRequest("Only entries with one recipient are imitated.")
		}
		b.Recipients = append(b.Recipients, sending.BulkRecipient{
			To: e.Destination.ToAddresses[0], Tags: tagsOf(e.ReplacementTags), Headers: headersOf(e.ReplacementHeaders),
			Data: e.ReplacementEmailContent.ReplacementTemplate.ReplacementTemplateData,
		})
	}
	outcomes, err := w.account.SendBulkTagged(r.Context(), w.org, b)
	results := make([]object, len(outcomes))
	for i, o := range outcomes {
		results[i] = resultOf(o)
	}
	return object{"BulkEmailEntryResults": results}, err
}

// resultOf returns the result of one entry of SendBulkEmail. The status of a failed entry
// is one of three values of BulkEmailStatus, or INVALID_PARAMETER if none of the three
// fits.
func resultOf(o sending.BulkOutcome) object {
	if o.Failure == nil {
		return object{"Status": "SUCCESS", "MessageId": o.MessageID}
	}
	status := "INVALID_PARAMETER"
	switch {
	case errors.Is(o.Failure, simulator.ErrDailyQuota):
		status = "ACCOUNT_DAILY_QUOTA_EXCEEDED"
	case o.Failure.Kind == sending.Throttled:
		status = "ACCOUNT_THROTTLED"
	case o.Failure.Kind == sending.Rejected:
		status = "MESSAGE_REJECTED"
	}
	return object{"Status": status, "Error": o.Failure.Err.Error()}
}
