package ses

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// listGoodFor is how long the name of the account's contact list is cached. An account has
// one contact list, which is rarely replaced.
const listGoodFor = time.Minute

const (
	// recheckAlways is the duration that deletions and listings pass to listName.use. With
	// 0, use reads the current name of the contact list after every NotFound with a cached
	// name. The callers of deletions and listings do not treat NotFound as a failure, so an
	// outdated name would go unnoticed.
	recheckAlways = 0
	// recheckStale is the duration that reads of a contact pass to listName.use. Reads often
	// ask for a contact that does not exist. So a not-found causes no second API call if the
	// list name was cached for less than this duration.
	recheckStale = 5 * time.Second
)

// listName reads and caches the name of the account's contact list. It is safe for
// concurrent use.
type listName struct {
	api   *sesv2.Client
	clock core.Clock

	mu     sync.Mutex
	name   string // "" while unknown
	readAt time.Time
}

// get returns the name of the account's contact list. It reads the name from SES if the
// cached name is older than a minute.
func (n *listName) get(ctx context.Context) (string, error) {
	if name, _, ok := n.cachedName(); ok {
		return name, nil
	}
	return n.read(ctx)
}

// cachedName returns the cached name of the contact list and its age. ok is false if no
// name is cached or if it is too old.
func (n *listName) cachedName() (name string, age time.Duration, ok bool) { //nolint:nonamedreturns // says which
	now := n.clock()
	n.mu.Lock()
	defer n.mu.Unlock()
	age = now.Sub(n.readAt)
	return n.name, age, n.name != "" && age >= 0 && age < listGoodFor
}

// use calls do with the name of the contact list. The parameter minAge is a duration. If
// do fails with NotFound and the name was cached at least that long ago, use reads the name
// again. If the name has changed, it calls do again with the new name.
func (n *listName) use(ctx context.Context, minAge time.Duration, do func(list string) error) error {
	name, age, remembered := n.cachedName()
	if !remembered {
		var err error
		if name, err = n.read(ctx); err != nil {
			return err
		}
	}
	err := do(name)
	if !remembered || age < minAge || !sending.IsNotFound(failureOf(ctx, err)) {
		return err
	}
	current, readErr := n.read(ctx)
	switch {
	case readErr != nil:
		return readErr
	case current == name:
		return err
	}
	return do(current)
}

func (n *listName) read(ctx context.Context) (string, error) {
	out, err := n.api.ListContactLists(ctx, &sesv2.ListContactListsInput{})
	if err != nil {
		return "", err
	}
	if len(out.ContactLists) == 0 {
		n.store("")
		return "", &sending.Failure{Kind: sending.NotFound, Err: errors.New("the account has no contact list")}
	}
	name := aws.ToString(out.ContactLists[0].ContactListName)
	n.store(name)
	return name, nil
}

func (n *listName) store(list string) {
	now := n.clock()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.name, n.readAt = list, now
}
