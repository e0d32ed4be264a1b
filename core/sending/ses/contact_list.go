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

// listGoodFor is how long the contact list's name is cached. An account has one list,
// which is rarely replaced.
const listGoodFor = time.Minute

const (
	// doubtedAtOnce is for deletions and listings, for which a not-found counts as
	// success or as the end. A not-found from a cached name is always checked against
	// the current name.
	doubtedAtOnce = 0
	// doubtedSoon is for reads. Many of them find nothing, so they must not each cost a
	// second call.
	doubtedSoon = 5 * time.Second
)

// ContactList returns the account's only contact list with its topics.
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

// EnsureContactList creates the list when the account has none. The provider allows one
// list for each account and refuses a second. A refusal is not an error when the
// account has a list by then.
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
		if classifyAnswer(err).status == http.StatusForbidden && code(err) == "AccessDeniedException" {
			return &sending.Failure{Kind: sending.Unsupported, Err: err}
		}
		return err
	})
}

// listName returns the name of the contact list. It reads the name at most once a
// minute.
func (a *Account) listName(ctx context.Context) (string, error) {
	if name, _, ok := a.rememberedList(); ok {
		return name, nil
	}
	return a.readListName(ctx)
}

// rememberedList returns the cached name and its age; ok is false when the cache is
// empty or expired.
func (a *Account) rememberedList() (name string, age time.Duration, ok bool) { //nolint:nonamedreturns // says which
	now := a.clock()
	a.mu.Lock()
	defer a.mu.Unlock()
	age = now.Sub(a.listRead)
	return a.list, age, a.list != "" && age >= 0 && age < listGoodFor
}

// onList runs do with the name of the contact list. When do fails with NotFound and the
// cached name is at least as old as doubted, the name is read again. If the name has
// changed, do runs a second time with the new name.
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

// timeOf returns t in UTC, or the zero time for nil.
func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.UTC()
}
