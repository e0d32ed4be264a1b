package topics

import (
	"context"
	"errors"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// maxTopics is the maximum number of topics in a contact list. An account may have a lower
// limit, which it enforces itself.
const maxTopics = 50

// edit is a change of the account's topics: an addition, a removal or a revision of one
// topic.
type edit interface {
	// apply returns the changed topics, or the error for the caller. It must not modify its
	// arguments. If another writer changes the account's topics before the result is stored,
	// apply is called again. The parameter named again is then true, and topics may already
	// have the result of the first call.
	apply(topics []sending.Topic, again bool) ([]sending.Topic, error)
}

// topicWrite is the state of a write of a topic between the operation's Prepare and Do
// steps. Prepare writes the change to the account. Do stores, in Mailhelm's copy, the
// topics that the account accepted.
type topicWrite struct {
	name  string
	edit  edit
	after []sending.Topic // accepted by the account
}

// topicsLockKey returns the key under which writers lock the topics of the organization.
func topicsLockKey(orgID string) string { return orgID + "/topics" }

// push writes the change to the account in the Prepare step of an operation. It locks the
// organization's topics until the call ends, so that changes are stored in the order in
// which the account accepted them. It fails with core.CodeConflict if a Git repository
// defines the topic.
func (t *Topics) push(ctx context.Context, c *core.Call, w *topicWrite) error {
	org := c.Principal.Org.ID
	release, err := t.Locks.Lock(ctx, topicsLockKey(org))
	if err != nil {
		return err
	}
	c.Defer(release)
	if err := t.checkManaged(ctx, org, w.name); err != nil {
		return err
	}
	var refused error
	asked := false
	change := func(bool) error {
		return t.Account.ChangeTopics(ctx, org, func(topics []sending.Topic) ([]sending.Topic, error) {
			w.after, refused = w.edit.apply(topics, asked)
			asked = true
			return w.after, refused
		})
	}
	_, adds := w.edit.(addition)
	if adds {
		err = t.Live.WriteToList(ctx, org, change)
	} else {
		err = change(false)
	}
	// clear the cached topics also after an error, because the account may have stored the
	// change
	t.Live.Forget(org)
	switch {
	case err == nil:
		return nil
	case refused != nil:
		return refused
	case sending.IsNotFound(err) && !adds:
		return core.NotFound("topic") // the account has no contact list and so no topics
	}
	return refuseTopic(err)
}

// checkManaged checks that the topic with the name may be changed through the API. It fails
// with core.CodeConflict if a Git repository defines the topic.
func (t *Topics) checkManaged(ctx context.Context, org, name string) error {
	known, err := t.Store.Topics(ctx, org)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(known, func(topic Topic) bool { return topic.Name == name && topic.Origin == core.GitOrigin }) {
		return core.RefuseGitOwned("topic")
	}
	return nil
}

// refuseTopic converts an error of the account about a topic to the error for API callers.
func refuseTopic(err error) error {
	if !sending.IsInvalid(err) || errors.Is(err, errNoList) {
		return Unavailable(err)
	}
	refused := core.Invalid("name", "or another member has a value that the connected sending account does not accept")
	refused.Err = err
	return refused
}

// mirror stores the changed topics in the database, in the Do step of an operation. It
// returns the topic as stored, or the zero Topic after a deletion.
func (t *Topics) mirror(ctx context.Context, c *core.Call, w *topicWrite) (Topic, error) {
	org := c.Principal.Org.ID
	if err := t.replaceMirrored(ctx, org, w.after, c.Now); err != nil {
		return Topic{}, err
	}
	known, err := t.Store.Topics(ctx, org)
	if err != nil {
		return Topic{}, err
	}
	at := slices.IndexFunc(known, func(topic Topic) bool { return topic.Name == w.name })
	if at < 0 {
		return Topic{}, nil
	}
	return known[at], nil
}
