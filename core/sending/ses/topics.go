package ses

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/mailhelm/mailhelm/core/sending"
)

const (
	// maxTopics is how many topics a contact list has at this provider, fewer than
	// Mailhelm's own lists may have.
	maxTopics = 20
	// topicRounds is how often a change of the topics is tried against others who
	// change them.
	topicRounds = 4
)

// ChangeTopics reads, changes, writes and reads again. The provider replaces all
// topics at once and takes no condition, so whoever writes in between would undo
// the change without a word: what is still to be changed afterwards is written
// once more. Within this process one changes them at a time.
func (a *Account) ChangeTopics(ctx context.Context, _ string, change sending.TopicsChange) error {
	var refused error
	err := a.call(ctx, func(ctx context.Context) error {
		select {
		case a.changing <- struct{}{}:
			defer func() { <-a.changing }()
		case <-ctx.Done():
			return ctx.Err()
		}
		return a.changeTopics(ctx, func(topics []sending.Topic) ([]sending.Topic, error) {
			topics, refused = change(topics)
			return topics, refused
		})
	})
	if err != nil && refused != nil {
		return refused
	}
	return err
}

func (a *Account) changeTopics(ctx context.Context, change sending.TopicsChange) error {
	written := false
	for range topicRounds {
		list, err := a.readList(ctx)
		if err != nil && written {
			return nil // the provider took it; that nobody undid it cannot be looked up now
		}
		if err != nil {
			return err
		}
		topics, err := change(slices.Clone(list.Topics))
		if err != nil && written { // it is there already, such as a topic that may not be added twice
			return nil
		}
		if err != nil || slices.Equal(topics, list.Topics) {
			return err
		}
		if len(topics) > maxTopics {
			return &sending.Failure{Kind: sending.Full, Err: errors.New("the provider has at most 20 topics")}
		}
		list.Topics = topics
		err = a.putList(ctx, list)
		if err != nil && code(err) != "ConcurrentModificationException" {
			return afterWrite(written, failureOf(ctx, err))
		}
		written = written || err == nil
	}
	return afterWrite(written, &sending.Failure{Kind: sending.Throttled, Err: errors.New("others change the topics all the while")})
}

// afterWrite is why a further write failed. After an earlier one, it is unknown
// whose topics stay.
func afterWrite(written bool, err error) error {
	if !written {
		return err
	}
	return &sending.Failure{Kind: sending.TimedOut, Err: err}
}

func (a *Account) putList(ctx context.Context, list sending.ContactList) error {
	topics := make([]types.Topic, len(list.Topics))
	for i := range list.Topics {
		t := &list.Topics[i]
		topics[i] = types.Topic{
			TopicName: &t.Name, DisplayName: &t.DisplayName, Description: given(t.Description),
			DefaultSubscriptionStatus: types.SubscriptionStatus(t.Default),
		}
	}
	_, err := a.api.UpdateContactList(ctx, &sesv2.UpdateContactListInput{
		ContactListName: &list.Name, Description: given(list.Description), Topics: topics,
	})
	return err
}
