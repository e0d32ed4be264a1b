package ses

import (
	"context"
	"maps"
	"net/mail"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

const charset = "UTF-8"

// noData is the template data of a message without data, because SES rejects "".
const noData = "{}"

// Send sends one message to SES, without retries. It waits until the account's send rate
// allows the recipients.
func (a *Account) Send(ctx context.Context, _ string, m sending.Message) (string, error) {
	from, err := sender(m.From)
	if err != nil {
		return "", err
	}
	recipients := len(m.To) + len(m.CC) + len(m.BCC)
	if recipients == 0 {
		return "", invalid("no recipient")
	}
	var id string
	err = a.call(ctx, func(ctx context.Context) error {
		if err := a.waitForRate(ctx, recipients); err != nil {
			return err
		}
		out, err := a.api.SendEmail(ctx, &sesv2.SendEmailInput{
			FromEmailAddress: &from, ReplyToAddresses: m.ReplyTo, ConfigurationSetName: nilIfEmpty(m.ConfigurationSet),
			Destination: &types.Destination{ToAddresses: m.To, CcAddresses: m.CC, BccAddresses: m.BCC},
			Content:     contentOf(m), EmailTags: messageTags(tagsOf(m.Envelope, m.Content.Template)),
		}, disableRetries)
		if err != nil {
			return unrepeatableFailure(ctx, err)
		}
		id = aws.ToString(out.MessageId)
		return nil
	})
	return id, err
}

// waitForRate waits until the account's send rate allows a message to this number of
// recipients. It fails with Throttled at once if the rate allows the message only after the
// deadline of ctx.
func (a *Account) waitForRate(ctx context.Context, recipients int) error {
	a.learnRate(ctx)
	return a.pace.wait(ctx, recipients)
}

// sender returns the From address with its display name encoded for SES (RFC 2047). It
// fails with Invalid if from is not an address.
func sender(from string) (string, error) {
	parsed, err := mail.ParseAddress(from)
	if err != nil {
		return "", invalid("the sender is not an address")
	}
	return parsed.String(), nil
}

func contentOf(m sending.Message) *types.EmailContent {
	if m.Content.Template != "" {
		return &types.EmailContent{Template: &types.Template{
			TemplateName: &m.Content.Template, TemplateData: dataOf(m.Content.TemplateData), Headers: headersOf(m.Headers),
		}}
	}
	return &types.EmailContent{Simple: &types.Message{
		Subject: textOf(m.Content.Subject), Headers: headersOf(m.Headers),
		Body: &types.Body{Text: optionalText(m.Content.Text), Html: optionalText(m.Content.HTML)},
	}}
}

func dataOf(data string) *string {
	if data == "" {
		data = noData
	}
	return &data
}

func textOf(text string) *types.Content {
	return &types.Content{Data: &text, Charset: aws.String(charset)}
}

func optionalText(text string) *types.Content {
	if text == "" {
		return nil
	}
	return textOf(text)
}

func headersOf(all []sending.Header) []types.MessageHeader {
	headers := make([]types.MessageHeader, 0, len(all))
	for _, h := range all {
		headers = append(headers, types.MessageHeader{Name: &h.Name, Value: &h.Value})
	}
	return headers
}

// tagsOf returns the message's tags with up to two more: the name of the template, which
// the events of SES omit, and the mark of a test message.
func tagsOf(e sending.Envelope, template string) map[string]string {
	all := maps.Clone(e.Tags)
	if all == nil {
		all = map[string]string{}
	}
	if template != "" {
		all[core.TemplateTag] = template
	}
	if e.Test {
		all[core.TestTag] = "true"
	}
	return all
}

func messageTags(all map[string]string) []types.MessageTag {
	tags := make([]types.MessageTag, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		tags = append(tags, types.MessageTag{Name: &name, Value: aws.String(all[name])})
	}
	return tags
}
