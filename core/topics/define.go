package topics

import (
	"context"
	"fmt"
	"slices"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

var definitionSchema = core.InputSchema[CreateTopicIn]()

// CheckDefinition fails with core.CodeValidationFailed for a topic that topics_create would refuse.
func CheckDefinition(t sending.Topic) error {
	if err := definitionSchema.CheckValue(CreateTopicIn{Name: t.Name, DisplayName: t.DisplayName, Description: t.Description, Default: t.Default}); err != nil {
		return err
	}
	if !isTopicName(t.Name) {
		return core.Invalid("name", "must consist of letters A-Z and a-z, digits, underscores and hyphens")
	}
	return nil
}

// Define creates topics or replaces the definitions of those with their names, and deletes the topics
// with the names in remove, in the sending account first. Then it stores the topics, and calls within at
// the end of the transaction. It fails as topics_create and topics_delete do, but not for topics that
// exist or do not.
func (t *Topics) Define(ctx context.Context, orgID string, all []sending.Topic, remove []string, within func(ctx context.Context) error) error {
	release, err := t.Locks.Lock(ctx, topicsLockKey(orgID))
	if err != nil {
		return err
	}
	defer release()
	edit := redefinition{all, remove}
	var after []sending.Topic
	var refused error
	change := func(bool) error {
		return t.Account.ChangeTopics(ctx, orgID, func(topics []sending.Topic) ([]sending.Topic, error) {
			after, refused = edit.apply(topics, false)
			return after, refused
		})
	}
	if len(all) > 0 {
		err = t.Live.WriteToList(ctx, orgID, change)
	} else {
		err = change(false)
	}
	t.Live.Forget(orgID)
	switch {
	case refused != nil:
		return refused
	case sending.IsNotFound(err) && len(all) == 0:
		after = nil // the account has no contact list, and so none of the topics
	case err != nil:
		return refuseTopic(err)
	}
	return t.Transactor.InTx(ctx, func(ctx context.Context) error {
		if err := t.replaceMirrored(ctx, orgID, after, t.Clock()); err != nil {
			return err
		}
		return within(ctx)
	})
}

// redefinition is the edit that creates, replaces and removes several topics.
type redefinition struct {
	all    []sending.Topic
	remove []string
}

func (r redefinition) apply(topics []sending.Topic, _ bool) ([]sending.Topic, error) {
	changed := slices.DeleteFunc(slices.Clone(topics), func(t sending.Topic) bool { return slices.Contains(r.remove, t.Name) })
	for _, t := range r.all {
		if at := indexOfTopic(changed, t.Name); at >= 0 {
			changed[at] = t
		} else {
			changed = append(changed, t)
		}
	}
	if len(changed) > maxTopics {
		return nil, core.Invalid("topics", fmt.Sprintf("would be %d, but at most %d are allowed; remove some first", len(changed), maxTopics))
	}
	return changed, nil
}
