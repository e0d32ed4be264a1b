package suppression

import (
	"context"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
)

// maxPart is the maximum length, in bytes, of the part of an address that a caller may
// search for.
const maxPart = 254

// Search returns at most f.Limit entries, the latest change first. more reports whether
// further entries match. It fails with core.CodeValidationFailed if f.Part (a part of the
// address) is too long or has characters that no address can contain.
func (s *Suppression) Search(ctx context.Context, orgID string, f EntryFilter) (entries []Entry, more bool, err error) { //nolint:nonamedreturns // says which
	if _, hidden := core.VisibleText(f.Part); hidden > 0 || len(f.Part) > maxPart || !utf8.ValidString(f.Part) {
		return nil, false, core.Invalid("q", "must be part of an address")
	}
	limit := f.Limit
	f.Limit = limit + 1
	if entries, err = s.Store.EntryPage(ctx, orgID, f); err != nil {
		return nil, false, err
	}
	return entries[:min(limit, len(entries))], len(entries) > limit, nil
}

// Entry returns the entry with this id. It fails with core.CodeNotFound if there is none.
func (s *Suppression) Entry(ctx context.Context, orgID, id string) (Entry, error) {
	if !IsEntryID(id) {
		return Entry{}, core.NotFound("undeliverable address")
	}
	return s.Store.EntryByID(ctx, orgID, id)
}
