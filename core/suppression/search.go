package suppression

import (
	"context"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
)

// maxPart is the greatest length of the search text, in bytes.
const maxPart = 254

// Search returns a page of entries, the latest change first. more reports whether others
// follow. It fails with core.CodeValidationFailed for a text that no address can
// contain.
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

// Entry returns an entry by its id.
func (s *Suppression) Entry(ctx context.Context, orgID, id string) (Entry, error) {
	if !IsEntryID(id) {
		return Entry{}, core.NotFound("undeliverable address")
	}
	return s.Store.EntryByID(ctx, orgID, id)
}
