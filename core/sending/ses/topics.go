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
	// maxTopics is the maximum number of topics in a contact list at SES. It is lower than
	// Mailhelm's own limit.
	maxTopics = 20
	// topicRounds is how often ChangeTopics tries to write the topics if other writers
	// change them at the same time.
	topicRounds = 4
)

// ChangeTopics reads the topics, writes the result of change, and reads the topics again.
// SES replaces all topics at once without a condition, so a concurrent writer may undo the
// change. ChangeTopics then calls change again and writes its result, until change returns
// the topics that SES has. In this process, only one goroutine at a time changes an
// account's topics.
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
			return nil // SES accepted the write; whether another writer undid it cannot be checked now
		}
		if err != nil {
			return err
		}
		topics, err := change(slices.Clone(list.Topics))
		// change may fail because the account already has the change: for example, it
		// cannot add a topic that exists. After a successful write this is a success.
		if err != nil && written {
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
	return afterWrite(written, &sending.Failure{Kind: sending.Throttled, Err: errors.New("other writes kept changing the topics")})
}

// afterWrite returns the error of a failed write of the topics. If an earlier write
// succeeded, it returns TimedOut, because the outcome is then unknown.
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
