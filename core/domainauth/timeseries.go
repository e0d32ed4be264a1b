package domainauth

import (
	"context"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
)

// TimeseriesIn names a domain and a window.
type TimeseriesIn struct {
	DomainIn
	PeriodIn
}

// DayOutcomes has the messages that reports state for one UTC day. total is pass and fail, and
// also none_disposition, quarantined and rejected.
type DayOutcomes struct {
	Date            string `json:"date" voice:"ours" jsonschema:"format=date" jsonschema_description:"UTC day."`
	Total           int64  `json:"total"`
	Pass            int64  `json:"pass" jsonschema_description:"Messages that passed DMARC, by SPF, DKIM or both."`
	SPFOnly         int64  `json:"spf_only" jsonschema_description:"Those of pass for which only SPF passed."`
	DKIMOnly        int64  `json:"dkim_only" jsonschema_description:"Those of pass for which only DKIM passed."`
	Fail            int64  `json:"fail" jsonschema_description:"Messages that failed DMARC."`
	NoneDisposition int64  `json:"none_disposition" jsonschema_description:"Messages to which receivers applied no policy."`
	Quarantined     int64  `json:"quarantined"`
	Rejected        int64  `json:"rejected"`
}

func (a *DomainAuth) timeseries() core.Operation {
	return core.Declare(core.Op[TimeseriesIn, core.Collection[DayOutcomes]]{
		Name:    "domain_auth_timeseries_get",
		Title:   "Read the outcomes of mail by day",
		Purpose: "Reads how many messages in the name of a domain passed and failed DMARC on each day of a window, and what receivers did with them. Days that no report covers are absent: nothing is known of them.",
		Example: `{"domain": "example.com"}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.DomainAuthView},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in TimeseriesIn) (core.Collection[DayOutcomes], error) {
			days, err := in.days(c.Now)
			if err != nil {
				return core.Collection[DayOutcomes]{}, err
			}
			d, err := a.domainOf(ctx, c, in.Domain)
			if err != nil {
				return core.Collection[DayOutcomes]{}, err
			}
			all, err := a.Figures.Totals(ctx, c.Principal.Org.ID, d.ID, days)
			outcomes := make([]DayOutcomes, len(all))
			for i, day := range all {
				outcomes[i] = outcomesOf(day)
			}
			return core.Collection[DayOutcomes]{Data: outcomes}, err
		},
	})
}

func outcomesOf(d Day) DayOutcomes {
	pass := figures.Add(d.Both, figures.Add(d.SPFOnly, d.DKIMOnly))
	return DayOutcomes{
		Date: d.Date.Format(time.DateOnly), Total: figures.Add(pass, d.Failing), Pass: pass, SPFOnly: d.SPFOnly, DKIMOnly: d.DKIMOnly, Fail: d.Failing,
		NoneDisposition: d.None, Quarantined: d.Quarantined, Rejected: d.Rejected,
	}
}
