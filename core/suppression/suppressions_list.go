package suppression

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Suppressed is an entry of the account's suppression list as callers see it.
type Suppressed struct {
	Email        string                    `json:"email" voice:"untrusted"`
	Reason       sending.SuppressionReason `json:"reason" jsonschema:"enum=bounce,enum=complaint,enum=manual"`
	SuppressedAt time.Time                 `json:"suppressed_at"`
	Source       string                    `json:"source" jsonschema:"enum=ses_event,enum=manual" jsonschema_description:"Whether an event added the address."`
}

func suppressedOf(e sending.Suppressed) Suppressed {
	s := Suppressed{Email: e.Email, Reason: e.Reason, SuppressedAt: e.At.UTC(), Source: "ses_event"}
	if e.Reason != sending.SuppressedByBounce && e.Reason != sending.SuppressedByComplaint {
		s.Reason, s.Source = sending.SuppressedByHand, "manual"
	}
	return s
}

// ListSuppressionsIn has the filters and page parameters of suppressions_list.
type ListSuppressionsIn struct {
	Reason sending.SuppressionReason `json:"reason,omitempty" jsonschema:"enum=bounce,enum=complaint,enum=manual" jsonschema_description:"Only addresses suppressed for this reason. Default: all."`
	Since  *time.Time                `json:"since,omitempty" only:"agent" jsonschema_description:"Only addresses added at or after this time, RFC 3339, such as 2026-03-01T00:00:00Z. Default: all."`
	From   *time.Time                `json:"from,omitempty" only:"rest" jsonschema_description:"Only addresses added at or after this time."`
	To     *time.Time                `json:"to,omitempty" only:"rest" jsonschema_description:"Only addresses added before this time."`
	Email  string                    `json:"email,omitempty" only:"rest" jsonschema:"maxLength=254" jsonschema_description:"Part of the address; case does not matter. All matches are on one page."`
	Limit  int                       `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200,default=50" agentmax:"50" jsonschema_description:"Greatest number of items in the answer."`
	Cursor string                    `json:"cursor,omitempty" only:"rest" jsonschema:"maxLength=1024" jsonschema_description:"Cursor: next_cursor of the previous page."`

	page core.Page[Suppressed]
}

func (s *Suppression) suppressionsList() core.Operation {
	return core.Declare(core.Op[ListSuppressionsIn, core.Page[Suppressed]]{
		Name:  "suppressions_list",
		Title: "List suppressed addresses",
		Purpose: "Lists addresses that the account itself refuses to mail, at most a minute old. " +
			"Use it to see recent suppressions. Returns address, reason and time, newest first. It does not add or remove any.",
		Example: `{"reason": "bounce", "limit": 2}`,
		Effect:  core.Reads,
		Cost:    core.Light,
		Scopes:  []core.Scope{core.SuppressionsView},
		Fails:   []core.Code{core.CodeUpstreamUnavailable},
		Prepare: s.prepareSuppressions,
		Do: func(_ context.Context, _ *core.Call, in ListSuppressionsIn) (core.Page[Suppressed], error) {
			return in.page, nil
		},
	})
}

func (s *Suppression) prepareSuppressions(ctx context.Context, c *core.Call, in ListSuppressionsIn) (ListSuppressionsIn, error) {
	when, err := in.check()
	if err != nil {
		return in, err
	}
	filter := fmt.Sprintf("suppressions %q %v %v", in.Reason, when.since.UnixMicro(), when.until.UnixMicro())
	after, err := core.AfterCursor(filter, in.Cursor)
	if err != nil {
		return in, err
	}
	reading, limit := s.lists.newReading(c.Principal.Org.ID), core.Limit(in.Limit)
	var found core.Page[sending.Suppressed]
	if c.Surface == core.Agent || in.Email != "" {
		found.Items, err = reading.readAll(ctx, when)
		found.Items = filterEntries(found.Items, in.wants)
		found.Total = len(found.Items)
		if in.Email == "" {
			found.Items = found.Items[:min(limit, found.Total)]
		}
	} else {
		found.Items, err = reading.readNewest(ctx, when, after, limit+1, in.wants)
		found = core.PageOf(found.Items, limit, filter, func(e sending.Suppressed) core.After {
			return core.After{At: e.At, ID: suppressedID(e)}
		})
	}
	in.page.Next, in.page.Total = found.Next, found.Total
	for _, e := range found.Items {
		in.page.Items = append(in.page.Items, suppressedOf(e))
	}
	return in, err
}

// check fails for arguments that are invalid in combination, which the schema cannot
// express. Otherwise it returns the requested time range.
func (in ListSuppressionsIn) check() (span, error) {
	var when span
	for _, from := range []*time.Time{in.Since, in.From} {
		if from != nil {
			when.since = from.UTC()
		}
	}
	if in.To != nil {
		when.until = in.To.UTC()
	}
	switch {
	case in.From != nil && in.To != nil && !in.From.Before(*in.To):
		return span{}, core.Invalid("from", "is not before `to`").WithNext("Send a `from` that is earlier than `to`.")
	case in.Email != "" && in.Cursor != "":
		return span{}, core.Invalid("cursor", "cannot be combined with `email`, whose matches fit one page")
	}
	return when, nil
}

func (in ListSuppressionsIn) wants(e sending.Suppressed) bool {
	return (in.Reason == "" || suppressedOf(e).Reason == in.Reason) &&
		(strings.Contains(strings.ToLower(e.Email), strings.ToLower(in.Email)) || strings.Contains(AddressKey(e.Email), AddressKey(in.Email)))
}

func filterEntries(entries []sending.Suppressed, wanted func(sending.Suppressed) bool) []sending.Suppressed {
	var found []sending.Suppressed
	for _, e := range entries {
		if wanted(e) {
			found = append(found, e)
		}
	}
	return found
}
