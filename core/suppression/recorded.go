package suppression

import (
	"context"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/messages"
)

// ObserveEvents updates the entries of the recipients of new bounces, complaints and
// rejects; see [messages.Recorder]. It locks the organization's rules, so that concurrent
// transactions with events about one address run one after the other.
func (s *Suppression) ObserveEvents(ctx context.Context, orgID string, events []messages.Event) error {
	var keys []string
	for _, e := range events {
		if e.Mail.Test || e.Recipient == "" {
			continue
		}
		switch e.Type {
		case messages.Bounce, messages.Complaint, messages.Reject:
			keys = append(keys, AddressKey(e.Recipient))
		}
	}
	if len(keys) == 0 {
		return nil
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	return s.Transactor.InTx(ctx, func(ctx context.Context) error {
		rules, err := s.RuleStore.HoldRules(ctx, orgID)
		if err != nil {
			return err
		}
		return s.judge(ctx, orgID, rules, keys, false)
	})
}

// judge computes the entries of the given addresses on the list of undeliverable addresses
// again, from the events of the addresses. It stores the entries that changed. The caller
// must have locked the organization's rules.
func (s *Suppression) judge(ctx context.Context, orgID string, rules Rules, keys []string, rulesChanged bool) error {
	histories, err := s.Store.Adverse(ctx, orgID, keys, maxHistory)
	if err != nil {
		return err
	}
	known, err := s.Store.Entries(ctx, orgID, keys)
	if err != nil {
		return err
	}
	now, err := s.changeTime(ctx, orgID)
	if err != nil {
		return err
	}
	var changed []Entry
	for _, key := range keys {
		var before *Entry
		if entry, ok := known[key]; ok {
			before = &entry
		}
		after := rules.judge(before, histories[key], rulesChanged, now)
		if after == nil || before != nil && before.isSame(*after) {
			continue
		}
		after.Key, after.LastChangedAt = key, now
		changed = append(changed, *after)
	}
	return s.Store.SaveEntries(ctx, orgID, changed)
}

// changeTime returns the time to store with a change. It is never before the time of an
// earlier change, even if the clocks of processes differ or a clock was set back. So a
// program that polls from the latest time it received misses no change. The caller must
// have locked the rules.
func (s *Suppression) changeTime(ctx context.Context, orgID string) (time.Time, error) {
	last, err := s.Store.LastChange(ctx, orgID)
	if now := s.now(); now.After(last) {
		last = now
	}
	return last, err
}

// now returns the current time in whole microseconds, which is the precision of the stores.
func (s *Suppression) now() time.Time { return s.Clock().UTC().Truncate(time.Microsecond) }
