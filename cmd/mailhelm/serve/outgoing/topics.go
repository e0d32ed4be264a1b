package outgoing

import (
	"context"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/topics"
)

// Topics finds topics in the copy of the account's topics; it is a [broadcasts.Topics].
type Topics struct{ Store topics.Store }

// Topic returns the display name of a topic that is not archived.
func (n Topics) Topic(ctx context.Context, orgID, name string) (string, error) {
	all, err := n.Store.Topics(ctx, orgID)
	if err != nil {
		return "", err
	}
	for _, t := range all {
		if t.Name == name && t.Status == topicActive {
			return t.DisplayName, nil
		}
	}
	return "", core.NotFound("topic")
}

// topicActive is the status of a topic that is not archived.
const topicActive = "active"
