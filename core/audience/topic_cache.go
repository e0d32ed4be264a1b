package audience

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

const topicLife = 60 * time.Second

// topicCache remembers each account's topics for a minute: they change rarely and
// the provider's control calls are slow.
type topicCache struct {
	clock core.Clock
	mu    sync.Mutex
	byOrg map[string]cachedTopics
	// forgotten counts the calls of forget, so that what was asked for before one is
	// not remembered after it.
	forgotten int
}

type cachedTopics struct {
	topics []sending.Topic
	until  time.Time
}

func newTopicCache(clock core.Clock) *topicCache {
	return &topicCache{clock: clock, byOrg: map[string]cachedTopics{}}
}

// get returns the account's topics by name, nil when there is no account or no contact list. A failure
// of the account is upstream_unavailable and is not remembered.
func (c *topicCache) get(ctx context.Context, orgID string, account sending.Account) ([]sending.Topic, error) {
	now := c.clock()
	c.mu.Lock()
	cached, ok := c.byOrg[orgID]
	before := c.forgotten
	c.mu.Unlock()
	if ok && now.Before(cached.until) {
		return cached.topics, nil
	}
	list, err := account.ContactList(ctx, orgID)
	if err != nil && !sending.IsAbsent(err) {
		return nil, sending.Unavailable(err)
	}
	topics := slices.SortedFunc(slices.Values(list.Topics), func(a, b sending.Topic) int { return strings.Compare(a.Name, b.Name) })
	if err == nil && topics == nil {
		topics = []sending.Topic{}
	}
	c.mu.Lock()
	if c.forgotten == before {
		c.byOrg[orgID] = cachedTopics{topics: topics, until: now.Add(topicLife)}
	}
	c.mu.Unlock()
	return topics, nil
}

// forget makes the next call ask the account: its topics were changed.
func (c *topicCache) forget(orgID string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgotten++
	delete(c.byOrg, orgID)
}

// Topics returns the topics of the organization's account, at most a minute old. See
// get.
func (a *Audience) Topics(ctx context.Context, orgID string) ([]sending.Topic, error) {
	return a.topics.get(ctx, orgID, a.Account)
}
