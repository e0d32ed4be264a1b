package ses

import (
	"context"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/mailhelm/mailhelm/core/sending"
)

// ContactList returns the account's only contact list with its topics. It fails with
// NotFound if the account has no list.
func (a *Account) ContactList(ctx context.Context, _ string) (sending.ContactList, error) {
	var list sending.ContactList
	err := a.call(ctx, func(ctx context.Context) error {
		var err error
		list, err = a.readList(ctx)
		return err
	})
	if err != nil {
		return sending.ContactList{}, err
	}
	return list, nil
}

func (a *Account) readList(ctx context.Context) (sending.ContactList, error) {
	name, err := a.list.read(ctx)
	if err != nil {
		return sending.ContactList{}, err
	}
	out, err := a.api.GetContactList(ctx, &sesv2.GetContactListInput{ContactListName: &name})
	if err != nil {
		return sending.ContactList{}, err
	}
	list := sending.ContactList{
		Name: name, Description: aws.ToString(out.Description), UpdatedAt: timeOf(out.LastUpdatedTimestamp),
	}
	for _, t := range out.Topics {
		list.Topics = append(list.Topics, sending.Topic{
			Name: aws.ToString(t.TopicName), DisplayName: aws.ToString(t.DisplayName),
			Description: aws.ToString(t.Description), Default: sending.Subscription(t.DefaultSubscriptionStatus),
		})
	}
	return list, nil
}

// EnsureContactList creates a contact list if the account has none. SES allows one list for
// each account. So if SES refuses the creation and a list exists by then, the call
// succeeds.
func (a *Account) EnsureContactList(ctx context.Context, _ string) error {
	return a.call(ctx, func(ctx context.Context) error {
		_, err := a.list.read(ctx)
		if !sending.IsNotFound(failureOf(ctx, err)) {
			return err
		}
		_, err = a.api.CreateContactList(ctx, &sesv2.CreateContactListInput{ContactListName: aws.String(sending.DefaultContactList)})
		if err == nil {
			a.list.store(sending.DefaultContactList)
			return nil
		}
		if _, readErr := a.list.read(ctx); readErr == nil {
			return nil
		}
		if classifyAnswer(err).status == http.StatusForbidden && code(err) == "AccessDeniedException" {
			return &sending.Failure{Kind: sending.Unsupported, Err: err}
		}
		return err
	})
}

// timeOf returns t in UTC, or the zero time for nil.
func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
