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
	// maxTopics is the provider's limit of topics in a contact list. It is lower than
	// Mailhelm's own limit.
	maxTopics = 20
	// topicRounds is how often a change of the topics is tried while other writers
	// interfere.
	topicRounds = 4
)

// ChangeTopics reads the topics, writes the changed ones and reads them again. The
// provider replaces all topics at once and has no conditional write, so a concurrent
// writer could undo the change. If the second read shows a remaining difference, the
// change is written again. Within this process, changes are serialized.
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
			return nil // the provider accepted the write; whether it was undone cannot be checked now
		}
		if err != nil {
			return err
		}
		topics, err := change(slices.Clone(list.Topics))
		if err != nil && written { // the change is already in place, such as a topic that may not be added twice
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

// afterWrite returns the error of a failed write. After an earlier successful write the
// outcome is unknown.
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
			TopicName: &t.Name, DisplayName: &t.DisplayName, Description: nilIfEmpty(t.Description),
			DefaultSubscriptionStatus: types.SubscriptionStatus(t.Default),
		}
	}
	_, err := a.api.UpdateContactList(ctx, &sesv2.UpdateContactListInput{
		ContactListName: &list.Name, Description: nilIfEmpty(list.Description), Topics: topics,
	})
	return err
}
