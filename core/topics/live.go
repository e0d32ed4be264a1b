package topics

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

const topicLife = 60 * time.Second

// Live reads the contact lists of sending accounts. It caches the topics of each account
// for a minute, because they change rarely and the provider answers slowly.
type Live struct {
	account sending.Account
	clock   core.Clock
	log     *slog.Logger

	mu    sync.Mutex
	byOrg map[string]cachedTopics
	// forgotten is the number of calls of Forget. If it changes while an account is read,
	// the answer may be outdated and is not cached.
	forgotten int
}

type cachedTopics struct {
	topics []sending.Topic
	until  time.Time
}

// NewLive returns a Live that reads the given account.
func NewLive(account sending.Account, clock core.Clock, log *slog.Logger) *Live {
	return &Live{account: account, clock: clock, log: log, byOrg: map[string]cachedTopics{}}
}

// Topics returns the account's topics, sorted by name. It returns nil if the organization
// has no account or the account has no contact list. It fails with
// core.CodeUpstreamUnavailable if the account fails; such errors are not cached.
func (l *Live) Topics(ctx context.Context, orgID string) ([]sending.Topic, error) {
	now := l.clock()
	l.mu.Lock()
	cached, ok := l.byOrg[orgID]
	before := l.forgotten
	l.mu.Unlock()
	if ok && now.Before(cached.until) {
		return cached.topics, nil
	}
	list, err := l.account.ContactList(ctx, orgID)
	if err != nil && !sending.IsAbsent(err) {
		return nil, sending.Unavailable(err)
	}
	topics := slices.SortedFunc(slices.Values(list.Topics), func(a, b sending.Topic) int { return strings.Compare(a.Name, b.Name) })
	if err == nil && topics == nil {
		topics = []sending.Topic{}
	}
	l.mu.Lock()
	if l.forgotten == before {
		l.byOrg[orgID] = cachedTopics{topics: topics, until: now.Add(topicLife)}
	}
	l.mu.Unlock()
	return topics, nil
}

// Forget removes the organization's topics from the cache, so that the next call of Topics
// reads the account. Call it after a change of the account's topics.
func (l *Live) Forget(orgID string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forgotten++
	delete(l.byOrg, orgID)
}

// ForgetAll removes the topics of all organizations from the cache.
func (l *Live) ForgetAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forgotten++
	clear(l.byOrg)
}

// DropUnknownTopics returns the consent without choices about topics that the account does
// not have, because the account would refuse these choices. It fails with
// core.CodeUpstreamUnavailable if the account's topics cannot be read.
func (l *Live) DropUnknownTopics(ctx context.Context, orgID string, consent sending.Contact) (sending.Contact, error) {
	if len(consent.Preferences) == 0 {
		return consent, nil
	}
	topics, err := l.Topics(ctx, orgID)
	if err != nil || topics == nil { // no account or no list: keep all choices
		return consent, err
	}
	consent.Preferences = maps.Clone(consent.Preferences)
	maps.DeleteFunc(consent.Preferences, func(name string, _ sending.Subscription) bool { return indexOfTopic(topics, name) < 0 })
	return consent, nil
}

// errNoList is wrapped by errors of WriteToList if the account has no contact list and
// Mailhelm could not create one.
var errNoList = errors.New("the account has no contact list")

// IsWithoutList reports whether WriteToList failed because the account has no contact list
// and Mailhelm could not create one.
func IsWithoutList(err error) bool { return errors.Is(err, errNoList) }

// WriteToList calls write, which needs the account's contact list. If the account has no
// list, WriteToList creates one and calls write again. The argument bare is then true: the
// new list has no topics, so the account would refuse choices about topics. No setup is
// needed before the first contact or topic of an organization. WriteToList fails with the
// account's error; see [Unavailable] and [IsWithoutList].
func (l *Live) WriteToList(ctx context.Context, orgID string, write func(bare bool) error) error {
	err := write(false)
	if !sending.IsNotFound(err) {
		return err
	}
	if err := l.account.EnsureContactList(ctx, orgID); err != nil {
		return fmt.Errorf("%w: %w", errNoList, err)
	}
	l.Forget(orgID)
	l.log.InfoContext(ctx, "contact list created in the sending account", "org_id", orgID)
	return write(true)
}

// Unavailable converts an error of the account to the error for API callers. The result is
// core.CodeConflict with instructions if a retry would not help: no account is connected, or
// the account does not let Mailhelm create a contact list. sending.Unavailable converts all
// other errors. nil stays nil.
func Unavailable(err error) error {
	f, ok := errors.AsType[*sending.Failure](err)
	var refused *core.Error
	switch {
	case ok && f.Kind == sending.NotConnected:
		refused = core.Conflict("No sending account is connected to this organization, so there is no contact list to write to.",
			"Connect a sending account with `mailhelm admin account connect` or in the dashboard under Sending account, then repeat the call.")
	case ok && IsWithoutList(err) && (f.Kind == sending.Unsupported || f.Kind == sending.Invalid):
		refused = core.Conflict("The connected sending account has no contact list and does not let Mailhelm create one.",
			"Allow the action `ses:CreateContactList` to Mailhelm's key or role, or run "+
				"`aws sesv2 create-contact-list --contact-list-name "+sending.DefaultContactList+"` in the account, then repeat the call.")
	default:
		return sending.Unavailable(err)
	}
	refused.Err = err
	return refused
}
