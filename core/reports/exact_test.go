package reports_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
	"pgregory.net/rapid"
)

// instants returns a generator of times that are boundary cases for reports. They are
// midnights, also of the start of a week or month, starts and middles of hours, and times
// around now. Some are a microsecond before or after such a time.
func instants() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		day := time.Date(2026, 2, 26, 0, 0, 0, 0, time.UTC).AddDate(0, 0, rapid.IntRange(0, 14).Draw(t, "day"))
		beside := []time.Duration{0, time.Microsecond, -time.Microsecond, 9*time.Hour - time.Microsecond, 9 * time.Hour, 9*time.Hour + 30*time.Minute, 15 * time.Hour, 15*time.Hour + 30*time.Minute, 20 * time.Hour}
		return day.Add(rapid.SampledFrom(beside).Draw(t, "beside"))
	})
}

// mailOf returns random data of a message, such as its sender and sending time. Every event
// of the message contains the same data.
func mailOf(t *rapid.T) messages.Mail {
	return messages.Mail{
		From:     rapid.SampledFrom([]string{"me@Shop.example", "me@post.example"}).Draw(t, "from"),
		SentAt:   instants().Draw(t, "sent"),
		Channel:  rapid.SampledFrom([]string{"", "shop-set", "other"}).Draw(t, "channel"),
		Template: rapid.SampledFrom([]string{"", "Welcome", "welcome", "bill"}).Draw(t, "template"),
		Test:     rapid.IntRange(0, 9).Draw(t, "test") == 0,
	}
}

func eventsOf(n int) *rapid.Generator[[]messages.Event] {
	types := []messages.EventType{
		messages.Send, messages.Delivery, messages.Bounce, messages.Complaint, messages.Reject, messages.Open, messages.Open,
		messages.Open, messages.Click, messages.Click, messages.DeliveryDelay, messages.Subscription,
	}
	return rapid.Custom(func(t *rapid.T) []messages.Event {
		events, mails := make([]messages.Event, n), map[string]messages.Mail{}
		for _, id := range messageIDs {
			mails[id] = mailOf(t)
		}
		for i := range events {
			kind := rapid.SampledFrom(types).Draw(t, "type")
			repeats := ""
			if (kind == messages.Complaint || kind == messages.Bounce) && rapid.Bool().Draw(t, "repeats the account's list") {
				repeats = "OnAccountSuppressionList"
			}
			id := rapid.SampledFrom(messageIDs).Draw(t, "message")
			events[i] = messages.Event{
				ID: fmt.Sprintf("e%d", i), MessageID: id, Type: kind, OccurredAt: instants().Draw(t, "at"),
				Recipient: rapid.SampledFrom([]string{"a@x.example", "A@X.example", "b@y.example", ""}).Draw(t, "recipient"),
				Mail:      mails[id],
			}
			switch kind {
			case messages.Bounce:
				events[i].Bounced = &messages.BounceKind{Type: messages.PermanentBounce, SubType: repeats}
			case messages.Complaint:
				events[i].ComplaintSubType = repeats
			}
		}
		return events
	})
}

var messageIDs = []string{"m1", "m2", "m3", "m4", "m5", "m6"}

// question has the arguments of a report. An argument that is "" is not sent.
type question struct {
	from, to, group, channel, identity, template string
}

func questions() *rapid.Generator[question] {
	return rapid.Custom(func(t *rapid.T) question {
		from, to := instants().Draw(t, "from"), instants().Draw(t, "to")
		if !from.Before(to) {
			from, to = to, from.Add(time.Microsecond)
		}
		until := to.Format(time.RFC3339Nano)
		if rapid.IntRange(0, 3).Draw(t, "open") == 0 && from.Before(now) {
			until = "" // now
		}
		return question{
			from: from.Format(time.RFC3339Nano), to: until,
			group:    rapid.SampledFrom([]string{"", "day", "week", "month"}).Draw(t, "group"),
			channel:  rapid.SampledFrom([]string{"", shopID, nobodyID}).Draw(t, "channel"),
			identity: rapid.SampledFrom([]string{"", "shop.example", "Someone@POST.example", "no.example"}).Draw(t, "identity"),
			template: rapid.SampledFrom([]string{"", "WELCOME", "bill", "none"}).Draw(t, "template"),
		}
	})
}

func (q question) with(names ...string) map[string]any {
	all := map[string]string{
		"from": q.from, "to": q.to, "group_by": q.group, "channel": q.channel, "identity": q.identity, "template": q.template,
	}
	in := map[string]any{}
	for _, name := range names {
		if all[name] != "" {
			in[name] = all[name]
		}
	}
	return in
}

// scan returns the expected counts of a report, grouped by the result of key. It goes
// through all events and shares no code with the reports that it checks.
func scan(events []messages.Event, q question, key func(messages.Event) string) map[string]reports.Counts {
	from, _ := time.Parse(time.RFC3339Nano, q.from)
	to := now
	if q.to != "" {
		to, _ = time.Parse(time.RFC3339Nano, q.to)
	}
	sums, seen := map[string]reports.Counts{}, map[string]bool{}
	for _, e := range events {
		identity := strings.ToLower(strings.Split(e.Mail.From, "@")[1])
		switch {
		case e.ComplaintSubType != "", e.Bounced != nil && e.Bounced.SubType != "", e.Mail.Test, e.Mail.SentAt.Before(from), !e.Mail.SentAt.Before(to),
			q.channel == nobodyID, q.channel == shopID && e.Mail.Channel != "shop-set",
			q.identity != "" && !strings.HasSuffix(strings.ToLower(q.identity), identity):
			continue
		}
		mark := fmt.Sprint(e.Type, e.MessageID, strings.ToLower(e.Recipient))
		c := sums[key(e)]
		unique := int64(1)
		if seen[mark] {
			unique = 0
		}
		seen[mark] = true
		switch e.Type {
		case messages.Send:
			c.Sent++
		case messages.Delivery:
			c.Delivered++
		case messages.Bounce:
			c.Bounced++
		case messages.Complaint:
			c.Complained++
		case messages.Reject:
			c.Suppressed++
		case messages.Open:
			c.Opens++
			c.UniqueOpens += unique
		case messages.Click:
			c.Clicks++
			c.UniqueClicks += unique
		default:
			continue
		}
		sums[key(e)] = c
	}
	return sums
}

func periodOf(group string) func(messages.Event) string {
	return func(e messages.Event) string {
		sent := e.Mail.SentAt
		start := time.Date(sent.Year(), sent.Month(), sent.Day(), 0, 0, 0, 0, time.UTC)
		switch group {
		case "week":
			for start.Weekday() != time.Monday {
				start = start.AddDate(0, 0, -1)
			}
		case "month":
			start = time.Date(start.Year(), start.Month(), 1, 0, 0, 0, 0, time.UTC)
		}
		return start.Format(time.RFC3339)
	}
}

func rate(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return min(1, float64(part)/float64(whole))
}

func TestReportsEqualAFullScan(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		rapid.Check(t, func(rt *rapid.T) {
			b, events := setupOn(db), eventsOf(40).Draw(rt, "events")
			again := events[:10] // Some events arrive twice, in one batch and in different batches.
			for _, batch := range [][]messages.Event{events[:20], slices.Concat(again, again), events[15:]} {
				if err := b.record(t.Context(), batch); err != nil {
					rt.Fatal(err)
				}
			}
			for range 6 {
				q := questions().Draw(rt, "question")
				b.checkSeries(rt, t, events, q)
				b.checkTemplates(rt, t, events, q)
			}
		})
	})
}

func (b *bundle) checkSeries(rt *rapid.T, t *testing.T, events []messages.Event, q question) {
	delivered, err := call[core.Collection[reports.DeliverabilityPoint]](t.Context(), b, core.REST, "reports_deliverability",
		q.with("from", "to", "group_by", "channel", "identity"))
	if err != nil {
		rt.Fatal(err)
	}
	engaged, err := call[core.Collection[reports.EngagementPoint]](t.Context(), b, core.REST, "reports_engagement",
		q.with("from", "to", "group_by", "channel", "identity"))
	if err != nil {
		rt.Fatal(err)
	}
	wantDelivered, wantEngaged := []reports.DeliverabilityPoint{}, []reports.EngagementPoint{}
	sums := scan(events, q, periodOf(q.group))
	for _, period := range slices.Sorted(maps.Keys(sums)) {
		c := sums[period]
		start, _ := time.Parse(time.RFC3339, period)
		wantDelivered = append(wantDelivered, reports.DeliverabilityPoint{
			Period: start, Sent: c.Sent, Delivered: c.Delivered, Bounced: c.Bounced, Complained: c.Complained, Suppressed: c.Suppressed,
			DeliveryRate: rate(c.Delivered, c.Sent),
		})
		wantEngaged = append(wantEngaged, reports.EngagementPoint{
			Period: start, Sent: c.Sent, Delivered: c.Delivered, Opens: c.Opens, UniqueOpens: c.UniqueOpens,
			Clicks: c.Clicks, UniqueClicks: c.UniqueClicks,
			OpenRate: rate(c.UniqueOpens, c.Delivered), ClickRate: rate(c.UniqueClicks, c.Delivered),
		})
	}
	if diff := gocmp.Diff(wantDelivered, delivered.Data); diff != "" {
		rt.Fatalf("deliverability of %+v (-scan +report):\n%s", q, diff)
	}
	if diff := gocmp.Diff(wantEngaged, engaged.Data); diff != "" {
		rt.Fatalf("engagement of %+v (-scan +report):\n%s", q, diff)
	}
}

func (b *bundle) checkTemplates(rt *rapid.T, t *testing.T, events []messages.Event, q question) {
	got, err := call[core.Collection[reports.TemplateRow]](t.Context(), b, core.REST, "reports_template_performance",
		q.with("from", "to", "channel", "identity", "template"))
	if err != nil {
		rt.Fatal(err)
	}
	want := []reports.TemplateRow{}
	for name, c := range scan(events, q, func(e messages.Event) string { return e.Mail.Template }) {
		if name == "" || q.template != "" && !strings.EqualFold(name, q.template) {
			continue
		}
		want = append(want, reports.TemplateRow{
			Template: name, Sent: c.Sent, Delivered: c.Delivered, Bounced: c.Bounced, Complained: c.Complained,
			Opens: c.Opens, UniqueOpens: c.UniqueOpens, Clicks: c.Clicks, UniqueClicks: c.UniqueClicks,
			BounceRate: rate(c.Bounced, c.Sent), ComplaintRate: rate(c.Complained, c.Sent),
			OpenRate: rate(c.UniqueOpens, c.Delivered), ClickRate: rate(c.UniqueClicks, c.Delivered),
		})
	}
	slices.SortFunc(want, func(a, b reports.TemplateRow) int {
		return cmp.Or(cmp.Compare(b.Sent, a.Sent), strings.Compare(a.Template, b.Template))
	})
	if diff := gocmp.Diff(want, got.Data); diff != "" {
		rt.Fatalf("templates of %+v (-scan +report):\n%s", q, diff)
	}
}
