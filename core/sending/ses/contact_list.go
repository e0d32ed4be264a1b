package ses

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/mailhelm/mailhelm/core/sending"
)

// listGoodFor is how long the contact list's name is taken to be the same: an
// account has one, which is hardly ever made anew.
const listGoodFor = time.Minute

const (
	// doubtedAtOnce is for what would otherwise be left undone without a word.
	doubtedAtOnce = 0
	// doubtedSoon is for lookups, of which many find nothing: they must not each
	// cost a second call.
	doubtedSoon = 5 * time.Second
)

// ContactList reads the account's only contact list with its topics.
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
	name, err := a.readListName(ctx)
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

// EnsureContactList makes the list when there is none. The provider allows one for
// each account and refuses a second, so a refusal is looked into: it is no failure when
// the account has a list by then.
func (a *Account) EnsureContactList(ctx context.Context, _ string) error {
	return a.call(ctx, func(ctx context.Context) error {
		_, err := a.readListName(ctx)
		if !sending.IsNotFound(failureOf(ctx, err)) {
			return err
		}
		_, err = a.api.CreateContactList(ctx, &sesv2.CreateContactListInput{ContactListName: aws.String(sending.DefaultContactList)})
		if err == nil {
			a.remember(sending.DefaultContactList)
			return nil
		}
		if _, readErr := a.readListName(ctx); readErr == nil {
			return nil
		}
		if answered(err).status == http.StatusForbidden && code(err) == "AccessDeniedException" {
			return &sending.Failure{Kind: sending.Unsupported, Err: err}
		}
		return err
	})
}

// listName is the name of the contact list, read at most once a minute.
func (a *Account) listName(ctx context.Context) (string, error) {
	if name, _, ok := a.rememberedList(); ok {
		return name, nil
	}
	return a.readListName(ctx)
}

// rememberedList is the name as it was read so long ago, if that is good still.
func (a *Account) rememberedList() (name string, age time.Duration, ok bool) { //nolint:nonamedreturns // says which
	now := a.clock()
	a.mu.Lock()
	defer a.mu.Unlock()
	age = now.Sub(a.listRead)
	return a.list, age, a.list != "" && age >= 0 && age < listGoodFor
}

// onList does something on the contact list. What is not found there may be on a
// list that has taken its place: a name that was remembered for so long is read
// anew before that is believed.
func (a *Account) onList(ctx context.Context, doubted time.Duration, do func(list string) error) error {
	name, age, remembered := a.rememberedList()
	if !remembered {
		var err error
		if name, err = a.readListName(ctx); err != nil {
			return err
		}
	}
	err := do(name)
	if !remembered || age < doubted || !sending.IsNotFound(failureOf(ctx, err)) {
		return err
	}
	current, readErr := a.readListName(ctx)
	switch {
	case readErr != nil:
		return readErr
	case current == name:
		return err
	}
	return do(current)
}

func (a *Account) readListName(ctx context.Context) (string, error) {
	out, err := a.api.ListContactLists(ctx, &sesv2.ListContactListsInput{})
	if err != nil {
		return "", err
	}
	if len(out.ContactLists) == 0 {
		a.remember("")
		return "", &sending.Failure{Kind: sending.NotFound, Err: errors.New("the account has no contact list")}
	}
	name := aws.ToString(out.ContactLists[0].ContactListName)
	a.remember(name)
	return name, nil
}

func (a *Account) remember(list string) {
	now := a.clock()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.list, a.listRead = list, now
}

// timeOf is a time of the provider's in UTC, the zero time when it gives none.
func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
