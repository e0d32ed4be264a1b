package demo

import (
	"context"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo/demodata"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/demo/demoreports"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve"
	"github.com/mailhelm/mailhelm/core/domainauth/arrivals"
)

// addReports gives the demo 90 days of DMARC reports at the first start. mailDomain is the domain of
// the addresses that receive reports.
func addReports(ctx context.Context, h *serve.Host, c demodata.Credentials, mailDomain string) error {
	user, err := h.DB().Users().UserByEmail(ctx, c.UserEmail)
	if err != nil {
		return err
	}
	address := func(token string) string { return arrivals.AddressOf(token, mailDomain) }
	return demoreports.Seeder{DB: h.DB(), OrgID: c.OrgID, UserID: user.ID, Address: address, Clock: h.Clock()}.Ensure(ctx)
}
