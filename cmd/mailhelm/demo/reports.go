package demo

import (
	"context"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo/demodata"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo/demoreports"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
)

// addReports gives the demo 90 days of DMARC reports at the first start.
func addReports(ctx context.Context, h *serve.Host, c demodata.Credentials) error {
	user, err := h.DB().Users().UserByEmail(ctx, c.UserEmail)
	if err != nil {
		return err
	}
	return demoreports.Seeder{DB: h.DB(), OrgID: c.OrgID, UserID: user.ID, Clock: h.Clock()}.Ensure(ctx)
}
