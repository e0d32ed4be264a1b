package workflows

import (
	"context"
	"fmt"

	"github.com/mailhelm/mailhelm/core"
)

// Search returns a page of the workflows that the filter selects, newest first, with f.Limit of
// them and the number of all. cursor is the Next of the previous page, "" for the first; f.After
// is not read. Search fails with core.CodeValidationFailed for the cursor of another search.
func (e *Editor) Search(ctx context.Context, orgID string, f Filter, cursor string) (core.Page[Workflow], error) {
	page, err := core.ReadPage(fmt.Sprintf("workflows %q %q", f.Query, f.Status), cursor, f.Limit, func(after *core.After, limit int) ([]Workflow, error) {
		f.After, f.Limit = after, limit
		return e.Store.Workflows(ctx, orgID, f)
	}, func(w Workflow) core.After { return core.After{At: w.CreatedAt, ID: w.ID} })
	if err == nil {
		page.Total, err = e.Store.Count(ctx, orgID, f)
	}
	return page, err
}
