package rest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/reports"
)

// sent records ten messages of the demo organization, sent one hour ago. Nine were
// delivered and one bounced. Three were opened, one of them twice.
func (a *api) sent(t *testing.T) {
	t.Helper()
	at := a.Clock.Now().Add(-time.Hour)
	var events []messages.Event
	add := func(kind messages.EventType, message, times int) {
		e := messages.Event{
			ID: fmt.Sprintf("%s-%d-%d", kind, message, times), MessageID: fmt.Sprint("m", message), Type: kind,
			OccurredAt: at, Recipient: "p@x.example", Mail: messages.Mail{From: "me@shop.example", SentAt: at, Template: "welcome"},
		}
		if kind == messages.Bounce {
			e.Bounced = &messages.BounceKind{Type: messages.PermanentBounce}
		}
		events = append(events, e)
	}
	for m := range 10 {
		add(messages.Send, m, 0)
		switch {
		case m == 0:
			add(messages.Bounce, m, 0)
			continue
		case m < 4:
			add(messages.Open, m, 0)
		}
		add(messages.Delivery, m, 0)
	}
	add(messages.Open, 1, 1)
	events = append(events, lateEvents(at)...)
	figures := reports.New(reports.Config{Store: a.DB.Reports(), Clock: a.Clock.Now})
	err := a.DB.InTx(t.Context(), func(ctx context.Context) error {
		fresh, err := a.DB.Messages().RecordEvents(ctx, a.OrgID, events, at)
		if err != nil {
			return err
		}
		return figures.ObserveEvents(ctx, a.OrgID, fresh)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// lateEvents returns the events of two messages that were sent 48 hours before the time at.
// The first message was delivered 36 hours before that time, and opened 24 and 12 hours
// before it. The second message was delivered exactly at that time, and its Send event is
// missing.
func lateEvents(at time.Time) []messages.Event {
	var events []messages.Event
	for i, kind := range []messages.EventType{messages.Send, messages.Delivery, messages.Open, messages.Open, messages.Delivery} {
		events = append(events, messages.Event{
			ID: fmt.Sprint("late", i), MessageID: fmt.Sprint("late", i/4), Type: kind, OccurredAt: at.Add(time.Duration(i-4) * 12 * time.Hour), Recipient: "late@x.example",
			Mail: messages.Mail{From: "me@late.example", SentAt: at.AddDate(0, 0, -2), Template: "late"},
		})
	}
	return events
}

func TestReports(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		a.Clock.Freeze(time.Date(2026, 11, 19, 12, 0, 0, 0, time.UTC)) // a Thursday
		a.sent(t)
		for target, want := range map[string]string{
			"/v1/reports/deliverability?group_by=week&identity=shop.example":           `{"data":[{"period":"2026-11-16T00:00:00Z","sent":10,"delivered":9,"bounced":1,"complained":0,"suppressed":0,"delivery_rate":0.9}]}`,
			"/v1/reports/engagement?identity=any@SHOP.example":                         `{"data":[{"period":"2026-11-19T00:00:00Z","sent":10,"delivered":9,"opens":4,"unique_opens":3,"clicks":0,"unique_clicks":0,"open_rate":0.3333333333333333,"click_rate":0}]}`,
			"/v1/reports/template-performance?template=Welcome":                        `{"data":[{"template":"welcome","sent":10,"delivered":9,"bounced":1,"complained":0,"opens":4,"unique_opens":3,"clicks":0,"unique_clicks":0,"bounce_rate":0.1,"complaint_rate":0,"open_rate":0.3333333333333333,"click_rate":0}]}`,
			"/v1/reports/deliverability?identity=late.example":                         `{"data":[{"period":"2026-11-17T00:00:00Z","sent":1,"delivered":2,"bounced":0,"complained":0,"suppressed":0,"delivery_rate":1}]}`,
			"/v1/reports/engagement?identity=late.example":                             `{"data":[{"period":"2026-11-17T00:00:00Z","sent":1,"delivered":2,"opens":2,"unique_opens":1,"clicks":0,"unique_clicks":0,"open_rate":0.5,"click_rate":0}]}`,
			"/v1/reports/engagement?from=2026-11-18T00:00:00Z&identity=late.example":   `{"data":[]}`,
			"/v1/reports/template-performance?template=none":                           `{"data":[]}`,
			"/v1/reports/deliverability?identity=shop.example&to=2026-11-19T11:00:00Z": `{"data":[]}`,
			"/v1/reports/deliverability?channel=" + core.NewID():                       `{"data":[]}`,
			"/v1/reports/engagement?identity=elsewhere.example&group_by=month":         `{"data":[]}`,
		} {
			if diff := cmp.Diff(decoded(t, []byte(want)), decoded(t, a.do(t, "GET", target, "").want(200).body)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", target, diff)
			}
		}
		var health reports.Health
		a.callTool(t, p.Token(t, p.MCPURL), "reports_get_sending_health", `{"identity":"late.example"}`).decode(&health)
		if len(health.Trend) != 1 || health.Trend[0].Period.Day() != 17 || health.Rates != (reports.Rates{Delivery: 1, Open: 0.5}) {
			t.Errorf("the tool: %+v", health)
		}
		if got := string(a.as(p.Other.Live.APIKey).do(t, "GET", "/v1/reports/deliverability", "").want(200).body); got != `{"data":[]}` {
			t.Errorf("another organization reads %s", got)
		}
		for _, report := range []string{"deliverability", "engagement", "template-performance"} {
			path := "/v1/reports/" + report
			a.do(t, "GET", path+"?from=2016-01-01T00:00:00Z", "").refused(403, core.CodePlanRetentionExceeded)
			for _, query := range []string{"?from=yesterday", "?from=2026-11-19T11:00:00Z&to=2026-11-19T10:00:00Z", "?channel=", "?channel=shop", "?limit=5"} {
				a.do(t, "GET", path+query, "").refused(422, core.CodeValidationFailed)
			}
			a.as(a.mint(t, core.MessagesView)).do(t, "GET", path, "").refused(403, core.CodeInvalidScope)
		}
	})
}

func decoded(t *testing.T, raw []byte) any {
	t.Helper()
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		t.Fatal(err)
	}
	return value
}
