package suppression

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
)

// MaxExclusionReason is the greatest length of the reason of an exclusion, in
// characters.
const MaxExclusionReason = 300

// Exclude removes a listed address from the list and keeps an excluded entry with the
// reason. Events up to now no longer count; later events that qualify by themselves list
// the address again. It fails with core.CodeNotFound, with core.CodeConflict for an
// address that is already excluded, and with core.CodeValidationFailed on the field
// "reason".
func (s *Suppression) Exclude(ctx context.Context, orgID, id, reason string) (Entry, error) {
	reason = strings.TrimSpace(reason)
	if err := checkExclusionReason(reason); err != nil {
		return Entry{}, err
	}
	if !IsEntryID(id) {
		return Entry{}, core.NotFound("undeliverable address")
	}
	var entry Entry
	err := s.Transactor.InTx(ctx, func(ctx context.Context) error {
		if _, err := s.Store.HoldRules(ctx, orgID); err != nil {
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
		// A provider's clock may be ahead of ours, so all events stored by now are
		// forgiven.
		at := s.now()
		if entry.LastSeenAt.After(at) {
			at = entry.LastSeenAt
		}
		entry.Status, entry.ExcludedAt, entry.ForgivenAt, entry.ExclusionReason = Excluded, &at, &at, reason
		return s.Store.SaveEntries(ctx, orgID, []Entry{entry})
	})
	return entry, err
}

func checkExclusionReason(reason string) error {
	visible, hidden := core.VisibleText(reason)
	switch {
	case strings.TrimSpace(visible) == "":
		return core.Invalid("reason", "must not be empty")
	case utf8.RuneCountInString(reason) > MaxExclusionReason:
		return core.Invalid("reason", fmt.Sprintf("must have at most %d characters", MaxExclusionReason))
	case hidden > 0 || !utf8.ValidString(reason) || strings.ContainsAny(reason, "\r\n\t"):
		return core.Invalid("reason", "must be one line of visible characters")
	}
	return nil
}

// Undeliverable returns the advisory record of one address, ignoring case; nil when
// there is none.
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
