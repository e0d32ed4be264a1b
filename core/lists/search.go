package lists

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
)

// Search returns a page of active lists, newest first, with the number of all matches. The
// lists have the text query in their name or key, in any case; "" matches all lists. It
// fails with core.CodeValidationFailed for a cursor of another query.
func (l *Lists) Search(ctx context.Context, orgID, query, cursor string, limit int) (core.Page[List], error) {
	page, err := l.readPage(ctx, orgID, query, cursor, limit)
	if err == nil {
		page.Total, err = l.Store.CountLists(ctx, orgID, query)
	}
	return page, err
}

// readPage returns a page of active lists, without the number of all matches.
func (l *Lists) readPage(ctx context.Context, orgID, query, cursor string, limit int) (core.Page[List], error) {
	return core.ReadPage(fmt.Sprintf("lists %q", query), cursor, limit, func(after *core.After, limit int) ([]List, error) {
		return l.Store.Lists(ctx, orgID, Filter{Query: query, After: after, Limit: limit})
	}, func(at List) core.After { return core.After{At: at.CreatedAt, ID: at.ID} })
}

// SearchMembers returns a page of the members of a list whose address contains the text
// part, in any case, most recently added first. It compares the addresses of all members.
// It fails with core.CodeValidationFailed for a cursor of another search.
func (l *Lists) SearchMembers(ctx context.Context, orgID, listID, part, cursor string, limit int) (core.Page[Member], error) {
	return core.ReadPage(fmt.Sprintf("list members %q %q", listID, part), cursor, limit, func(after *core.After, limit int) ([]Member, error) {
		return l.Members.SearchListMembers(ctx, orgID, listID, part, after, limit)
	}, func(m Member) core.After { return core.After{At: m.AddedAt, ID: m.ContactID} })
}
