package audience

import (
	"context"
	"errors"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// maxTopics is how many topics a contact list has at most. An account may have room
// for fewer and says so itself.
const maxTopics = 50

// topicWrite is a change of the account's topics between its two halves, as a
// contactWrite is one of a contact: the account is asked first, and the mirror
// stores what it took.
type topicWrite struct {
	name string
	// edit is given the topics there are and returns those there shall be. The
	// account may ask it again, also about what it made of them itself.
	edit func(topics []sending.Topic) ([]sending.Topic, error)
	// adds is true when the write makes a topic, and the list to hold it where the
	// account has none.
	adds  bool
	after []sending.Topic // what the account took
}

// pushTopics is the first half. Writers of an organization's topics take turns from
// the account's answer to the end of the call, so that the mirror follows in order.
func (a *Audience) pushTopics(ctx context.Context, c *core.Call, w *topicWrite) error {
	org := c.Principal.Org.ID
	release, err := a.writes.lock(ctx, org+"/topics")
	if err != nil {
		return err
	}
	c.After(release)
	if err := a.topicIsManaged(ctx, org, w.name); err != nil {
		return err
	}
	var refused error
	change := func(bool) error {
		return a.Account.ChangeTopics(ctx, org, func(topics []sending.Topic) ([]sending.Topic, error) {
			w.after, refused = w.edit(topics)
			return w.after, refused
		})
	}
	if w.adds {
		err = a.onList(ctx, org, change)
	} else {
		err = change(false)
	}
	a.topics.forget(org) // also after a failure: the call may have taken effect
	switch {
	case err == nil:
		return nil
	case refused != nil:
		return refused
	case sending.IsNotFound(err) && !w.adds:
		return core.NotFound("topic") // without a list there is none
	}
	return topicRefusal(err)
}

// topicIsManaged refuses topics that a repository defines.
func (a *Audience) topicIsManaged(ctx context.Context, org, name string) error {
	known, err := a.Store.Topics(ctx, org)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(known, func(t Topic) bool { return t.Name == name && t.Origin == core.GitOrigin }) {
		return core.RefuseGitOwned("topic")
	}
	return nil
}

// topicRefusal names what the account may have against a topic.
func topicRefusal(err error) error {
	if !sending.IsInvalid(err) || errors.Is(err, errNoList) {
		return unavailable(err)
	}
	refused := core.Invalid("name", "or another member is not what the connected sending account takes")
	refused.Err = err
	return refused
}

// storeTopics is the second half. It returns the topic of the write, the zero one
// when it is gone.
func (a *Audience) storeTopics(ctx context.Context, c *core.Call, w *topicWrite) (Topic, error) {
	org := c.Principal.Org.ID
	if err := a.replaceTopics(ctx, org, w.after, c.Now); err != nil {
		return Topic{}, err
	}
	known, err := a.Store.Topics(ctx, org)
	if err != nil {
		return Topic{}, err
	}
	at := slices.IndexFunc(known, func(t Topic) bool { return t.Name == w.name })
	if at < 0 {
		return Topic{}, nil
	}
	return known[at], nil
}

func indexOfTopic(topics []sending.Topic, name string) int {
	return slices.IndexFunc(topics, func(t sending.Topic) bool { return t.Name == name })
}
