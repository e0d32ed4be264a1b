package closing

import (
	"context"
	"encoding/json"

	"github.com/mailhelm/mailhelm/core/closing"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// expensiveRows reads each page of an export as an expensive read, so that the export of a
// large organization blocks no other read.
type expensiveRows struct {
	closing.ExportStore
	frame *frame.Frame
}

// ExportPage has the contract of the method of closing.ExportStore.
func (e expensiveRows) ExportPage(ctx context.Context, file, orgID string, after []any) ([]json.RawMessage, []any, error) {
	var rows []json.RawMessage
	var next []any
	err := e.frame.Expensive(ctx, orgID, func(ctx context.Context) error {
		var err error
		rows, next, err = e.ExportStore.ExportPage(ctx, file, orgID, after)
		return err
	})
	return rows, next, err
}
