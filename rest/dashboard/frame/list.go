package frame

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core/people"
)

// List is a page of a list, as operations return it.
type List[T any] struct {
	Data       []T `json:"data"`
	Pagination struct {
		HasMore    bool   `json:"has_more"`
		NextCursor string `json:"next_cursor"`
	} `json:"pagination"`
}

// Next returns the cursor of the next page, "" on the last page.
func (l List[T]) Next() string { return l.Pagination.NextCursor }

// batchSize is the number of records that [ReadAll] reads with one call, the most that
// operations allow.
const batchSize = 200

// ReadAll returns all records of a list, with as many calls of the operation as needed. It
// is for lists of definitions, which have at most a few hundred records.
func ReadAll[T any](f *Frame, r *http.Request, v people.Visitor, operation string) ([]T, error) {
	var all []T
	arguments := map[string]any{"limit": batchSize}
	for {
		var page List[T]
		if err := f.Read(r, v, operation, arguments, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Data...)
		if page.Next() == "" {
			return all, nil
		}
		arguments["cursor"] = page.Next()
	}
}
