package suppression

import (
	"context"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// MaxExclusionReason is the maximum length of an exclusion reason, in characters.
const MaxExclusionReason = 300

// Exclude removes an address from the list of undeliverable addresses. The entry stays with
// the status Excluded and the reason. Events up to now no longer count; later events list
// the address again if they meet a rule by themselves. It fails with core.CodeNotFound if
// there is no entry, with core.CodeConflict if it is already excluded, and with
// core.CodeValidationFailed if the reason is invalid.
func (s *Suppression) Exclude(ctx context.Context, orgID, id, reason string) (Entry, error) {
	reason = strings.TrimSpace(reason)
	if err := core.CheckLine("reason", reason, MaxExclusionReason); err != nil {
		return Entry{}, err
	}
	if !IsEntryID(id) {
		return Entry{}, core.NotFound("undeliverable address")
	}
	var entry Entry
	err := s.Transactor.InTx(ctx, func(ctx context.Context) error {
		if _, err := s.RuleStore.HoldRules(ctx, orgID); err != nil {
			return err
		}
		var err error
		if entry, err = s.Store.EntryByID(ctx, orgID, id); err != nil {
			return err
		}
		if entry.Status == Excluded {
			return core.Conflict("This address is excluded already.", "Nothing is left to do.")
		}
		if entry.LastChangedAt, err = s.changeTime(ctx, orgID); err != nil {
			return err
		}
		// The provider's clock may be ahead of this server's, so stored events may have
		// future times. ForgivenAt is not before the last event, so that no stored event
		// makes the address undeliverable again.
		at := s.now()
		if entry.LastSeenAt.After(at) {
			at = entry.LastSeenAt
		}
		entry.Status, entry.ExcludedAt, entry.ForgivenAt, entry.ExclusionReason = Excluded, &at, &at, reason
		return s.Store.SaveEntries(ctx, orgID, []Entry{entry})
	})
	return entry, err
}

// Undeliverable returns the entry of an address in any spelling, with the status Listed or
// Excluded. It returns nil if there is no entry.
func (s *Suppression) Undeliverable(ctx context.Context, orgID, email string) (*Undeliverable, error) {
	key := AddressKey(email)
	entries, err := s.Store.Entries(ctx, orgID, []string{key})
	if err != nil {
		return nil, err
	}
	entry, ok := entries[key]
	if !ok {
		return nil, nil //nolint:nilnil // none is an answer
	}
	record := recordOf(entry)
	return &record, nil
}
