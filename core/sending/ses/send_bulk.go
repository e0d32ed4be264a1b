package ses

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// outcomes maps the status that SES reports for one recipient to a kind of failure. A
// status that is neither success nor in this map counts as Rejected.
var outcomes = map[types.BulkEmailStatus]sending.FailureKind{
	types.BulkEmailStatusMessageRejected:               sending.Rejected,
	types.BulkEmailStatusMailFromDomainNotVerified:     sending.Rejected,
	types.BulkEmailStatusAccountSuspended:              sending.Rejected,
	types.BulkEmailStatusAccountSendingPaused:          sending.Rejected,
	types.BulkEmailStatusConfigurationSetSendingPaused: sending.Rejected,
	types.BulkEmailStatusConfigurationSetNotFound:      sending.Rejected,
	types.BulkEmailStatusTemplateNotFound:              sending.Rejected,
	types.BulkEmailStatusAccountThrottled:              sending.Throttled,
	types.BulkEmailStatusAccountDailyQuotaExceeded:     sending.Throttled,
	types.BulkEmailStatusTransientFailure:              sending.Throttled,
	types.BulkEmailStatusInvalidSendingPoolName:        sending.Invalid,
	types.BulkEmailStatusInvalidParameter:              sending.Invalid,
	types.BulkEmailStatusFailed:                        sending.Rejected,
}

// SendBulk sends one templated message for several recipients to SES, without retries. It
// waits until the account's send rate allows the recipients. It fails with TimedOut if the
// response does not have one result for each recipient, because the outcomes are then
// unknown.
func (a *Account) SendBulk(ctx context.Context, _ string, b sending.Bulk) ([]sending.BulkOutcome, error) {
	if n := len(b.Recipients); n == 0 || n > sending.MaxBulk {
		return nil, invalid(fmt.Sprintf("%d recipients, not 1 to %d", n, sending.MaxBulk))
	}
	from, err := sender(b.From)
	if err != nil {
		return nil, err
	}
	var results []types.BulkEmailEntryResult
	err = a.call(ctx, func(ctx context.Context) error {
		if err := a.waitForRate(ctx, len(b.Recipients)); err != nil {
			return err
		}
		out, err := a.api.SendBulkEmail(ctx, bulkInput(from, b), disableRetries)
		if err != nil {
			return unrepeatableFailure(ctx, err)
		}
		if len(out.BulkEmailEntryResults) != len(b.Recipients) {
			return &sending.Failure{Kind: sending.TimedOut, Err: errors.New("the number of results differs from the number of recipients")}
		}
		results = out.BulkEmailEntryResults
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := make([]sending.BulkOutcome, len(results))
	for i, r := range results {
		all[i] = outcomeOf(r)
	}
	return all, nil
}

func bulkInput(from string, b sending.Bulk) *sesv2.SendBulkEmailInput {
	entries := make([]types.BulkEmailEntry, len(b.Recipients))
	for i, r := range b.Recipients {
		entries[i] = types.BulkEmailEntry{
			Destination: &types.Destination{ToAddresses: []string{r.To}}, ReplacementHeaders: headersOf(r.Headers),
		}
		if len(r.Tags) > 0 { // they replace all default tags
			entries[i].ReplacementTags = messageTags(ownTags(b, r))
		}
		if r.Data != "" {
			entries[i].ReplacementEmailContent = &types.ReplacementEmailContent{
				ReplacementTemplate: &types.ReplacementTemplate{ReplacementTemplateData: &r.Data},
			}
		}
	}
	return &sesv2.SendBulkEmailInput{
		FromEmailAddress: &from, ReplyToAddresses: b.ReplyTo, ConfigurationSetName: nilIfEmpty(b.ConfigurationSet),
		DefaultEmailTags: messageTags(tagsOf(b.Envelope, b.Template)), BulkEmailEntries: entries,
		DefaultContent: &types.BulkEmailContent{Template: templateOf(b)},
	}
}

// templateOf returns the template of a bulk: the name of one at the account, or its content.
func templateOf(b sending.Bulk) *types.Template {
	t := &types.Template{TemplateData: dataOf(b.DefaultData), Headers: headersOf(b.Headers)}
	if b.Template != "" {
		t.TemplateName = &b.Template
		return t
	}
	t.TemplateContent = &types.EmailTemplateContent{
		Subject: &b.Inline.Subject, Text: nilIfEmpty(b.Inline.Text), Html: nilIfEmpty(b.Inline.HTML),
	}
	return t
}

// ownTags returns the tags of a recipient's message: the tags of all messages, overridden
// by the recipient's own tags.
func ownTags(b sending.Bulk, r sending.BulkRecipient) map[string]string {
	all := tagsOf(b.Envelope, b.Template)
	for name, value := range r.Tags {
		if name != core.TestTag && name != core.TemplateTag {
			all[name] = value
		}
	}
	return all
}

func outcomeOf(r types.BulkEmailEntryResult) sending.BulkOutcome {
	if r.Status == types.BulkEmailStatusSuccess {
		return sending.BulkOutcome{MessageID: aws.ToString(r.MessageId)}
	}
	kind, known := outcomes[r.Status]
	if !known {
		kind = sending.Rejected
	}
	return sending.BulkOutcome{Failure: &sending.Failure{Kind: kind, Err: fmt.Errorf("%s: %s", r.Status, aws.ToString(r.Error))}}
}
