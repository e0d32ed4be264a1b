package domainauth

import (
	"context"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Remeasured says whether a measurement was queued.
type Remeasured struct {
	Queued            bool       `json:"queued" jsonschema_description:"Whether the call queued a measurement. It runs within about a minute."`
	LastMeasuredAt    *time.Time `json:"last_measured_at" jsonschema:"nullable" jsonschema_description:"When DNS last answered, at the time of the request; null before the first measurement."`
	RetryAfterSeconds *int       `json:"retry_after_seconds,omitempty" jsonschema_description:"Seconds until a measurement can be queued again, if none was queued."`
}

// HeaderValue returns the value of the header Retry-After, "" if a measurement was queued.
func (r Remeasured) HeaderValue() string {
	if r.RetryAfterSeconds == nil {
		return ""
	}
	return strconv.Itoa(*r.RetryAfterSeconds)
}

func (a *DomainAuth) remeasure() core.Operation {
	return core.Declare(core.Op[DomainIn, Remeasured]{
		Name:    "domain_auth_domains_remeasure",
		Title:   "Measure a domain again",
		Purpose: "Asks for a new look at the DNS records and figures of a domain, for example after a record was published. At most one is queued in an hour; an earlier call queues none and says when the next one can be. Returns before the measurement, so the figures are those of the last one. It publishes nothing.",
		Example: `{"domain": "example.com"}`,
		Effect:  core.Writes,
		Scopes:  []core.Scope{core.DomainAuthManage},
		Fails:   []core.Code{core.CodeNotFound},
		Do: func(ctx context.Context, c *core.Call, in DomainIn) (Remeasured, error) {
			d, err := a.domainOf(ctx, c, in.Domain)
			if err != nil {
				return Remeasured{}, err
			}
			c.SetSubject(d.ID)
			queued, wait, err := a.Measurer.Request(ctx, c.Principal.Org.ID, d.ID, c.Now)
			r := Remeasured{Queued: queued, LastMeasuredAt: d.MeasuredAt}
			if !queued {
				seconds := int(wait / time.Second)
				r.RetryAfterSeconds = &seconds
			}
			return r, err
		},
	})
}
