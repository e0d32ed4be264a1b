package ses

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/mailhelm/mailhelm/core/sending"
)

const contactsPage = 1000

// Contact returns one contact's consent.
func (a *Account) Contact(ctx context.Context, _, email string) (sending.Contact, error) {
	var c sending.Contact
	err := a.call(ctx, func(ctx context.Context) error {
		if email == "" {
			return invalid("no address")
		}
		return a.list.use(ctx, recheckStale, func(list string) error {
			out, err := a.api.GetContact(ctx, &sesv2.GetContactInput{ContactListName: &list, EmailAddress: &email})
			if err == nil {
				c = contactOf(out)
			}
			return err
		})
	})
	if err != nil {
		return sending.Contact{}, err
	}
	return c, nil
}

func contactOf(out *sesv2.GetContactOutput) sending.Contact {
	return sending.Contact{
		Email: aws.ToString(out.EmailAddress), UnsubscribeAll: out.UnsubscribeAll,
		Preferences: preferencesOf(out.TopicPreferences), UpdatedAt: timeOf(out.LastUpdatedTimestamp),
	}
}

// Contacts returns a page of at most 1,000 contacts and the token of the next page, ""
// after the last.
func (a *Account) Contacts(ctx context.Context, _, token string) ([]sending.Contact, string, error) {
	var page []sending.Contact
	var next string
	err := a.call(ctx, func(ctx context.Context) error {
		var out *sesv2.ListContactsOutput
		err := a.list.use(ctx, recheckAlways, func(list string) error {
			var err error
			out, err = a.api.ListContacts(ctx, &sesv2.ListContactsInput{
				ContactListName: &list, PageSize: aws.Int32(contactsPage), NextToken: nilIfEmpty(token),
			})
			return err
		})
		if err != nil {
			return err
		}
		next = aws.ToString(out.NextToken)
		for _, c := range out.Contacts {
			page = append(page, sending.Contact{
				Email: aws.ToString(c.EmailAddress), UnsubscribeAll: c.UnsubscribeAll,
				Preferences: preferencesOf(c.TopicPreferences), UpdatedAt: timeOf(c.LastUpdatedTimestamp),
			})
		}
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	return page, next, nil
}

// PutContact creates the contact or replaces its consent. It reads the contact first,
// because an update at SES deletes attributes that the call omits, and these attributes
// belong to the customer. If the consent is unchanged, it makes no update, because SES
// would then report the present time as that of the contact's last change.
func (a *Account) PutContact(ctx context.Context, _ string, c sending.Contact) error {
	if len(c.Preferences) > maxTopics {
		return invalid("the provider has at most 20 topics")
	}
	return a.call(ctx, func(ctx context.Context) error {
		err := a.putContact(ctx, c)
		switch {
		// a concurrent writer changed the contact: read and update it again
		case code(err) == "ConcurrentModificationException":
			return a.putContact(ctx, c)
		case code(err) == "AlreadyExistsException" || sending.IsNotFound(failureOf(ctx, err)):
			// Another writer created or deleted the contact after putContact had read it, or
			// the customer replaced the contact list. Forget the cached name of the list and
			// try again.
			a.list.store("")
			return a.putContact(ctx, c)
		}
		return err
	})
}

func (a *Account) putContact(ctx context.Context, c sending.Contact) error {
	if c.Email == "" {
		return invalid("no address")
	}
	list, err := a.list.get(ctx)
	if err != nil {
		return err
	}
	preferences := topicPreferences(c.Preferences)
	before, err := a.api.GetContact(ctx, &sesv2.GetContactInput{ContactListName: &list, EmailAddress: &c.Email})
	if sending.IsNotFound(failureOf(ctx, err)) {
		_, err = a.api.CreateContact(ctx, &sesv2.CreateContactInput{
			ContactListName: &list, EmailAddress: &c.Email, UnsubscribeAll: c.UnsubscribeAll, TopicPreferences: preferences,
		})
		return err
	}
	if err != nil {
		return err
	}
	if before.UnsubscribeAll == c.UnsubscribeAll && maps.Equal(preferencesOf(before.TopicPreferences), c.Preferences) {
		return nil
	}
	_, err = a.api.UpdateContact(ctx, &sesv2.UpdateContactInput{
		ContactListName: &list, EmailAddress: before.EmailAddress, AttributesData: before.AttributesData,
		UnsubscribeAll: c.UnsubscribeAll, TopicPreferences: preferences,
	})
	return err
}

// DeleteContact removes an address from the contact list. It succeeds if the list does not
// have the address. After a not-found with a cached list name it reads the current name,
// because the address may be on a new list.
func (a *Account) DeleteContact(ctx context.Context, _, email string) error {
	if email == "" {
		return invalid("no address")
	}
	return a.call(ctx, func(ctx context.Context) error {
		err := a.list.use(ctx, recheckAlways, func(list string) error {
			_, err := a.api.DeleteContact(ctx, &sesv2.DeleteContactInput{ContactListName: &list, EmailAddress: &email})
			return err
		})
		if sending.IsNotFound(failureOf(ctx, err)) {
			return nil
		}
		return err
	})
}

// topicPreferences returns the topic choices in the format of SES, sorted by topic name, so
// that equal consent gives equal requests.
func topicPreferences(choices map[string]sending.Subscription) []types.TopicPreference {
	all := make([]types.TopicPreference, 0, len(choices))
	for _, topic := range slices.Sorted(maps.Keys(choices)) {
		all = append(all, types.TopicPreference{TopicName: &topic, SubscriptionStatus: types.SubscriptionStatus(choices[topic])})
	}
	return all
}

func preferencesOf(all []types.TopicPreference) map[string]sending.Subscription {
	choices := make(map[string]sending.Subscription, len(all))
	for _, p := range all {
		choices[aws.ToString(p.TopicName)] = sending.Subscription(p.SubscriptionStatus)
	}
	return choices
}

// nilIfEmpty returns a pointer to text, or nil for "", because SES rejects empty strings.
func nilIfEmpty(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
