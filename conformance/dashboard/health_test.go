package dashboard_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/messages"
	nethtml "golang.org/x/net/html"
)

// tablesOf returns those rows of a page's tables in which a figure other than 0 occurs.
// Each returned row is one text: first the names of the columns, then the cells.
func tablesOf(t *testing.T, page string) []string {
	t.Helper()
	root, err := nethtml.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	columns := ""
	for n := range root.Descendants() {
		if n.Data != "tr" {
			continue
		}
		var cells []string
		heading, something := true, false
		for cell := range n.ChildNodes() {
			text := textOf(cell)
			cells = append(cells, text)
			if cell.Data == "td" {
				heading, something = false, something || strings.ContainsAny(text, "123456789")
			}
		}
		switch row := strings.Join(cells, " "); {
		case heading:
			columns = row
		case something:
			rows = append(rows, columns+": "+row)
		}
	}
	return rows
}

// report returns the rows of the report at the path of the REST API. The report begins at
// the time in the parameter since.
func report(t *testing.T, p *product.Product, path string, since time.Time) []map[string]any {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.BaseURL+path+"?from="+url.QueryEscape(since.Format(time.RFC3339)), nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+p.Live.APIKey)
	answer, err := p.HTTP.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var body struct{ Data []map[string]any }
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v", path, answer.StatusCode, err)
	}
	return body.Data
}

// mailed returns message events of nine days with different figures each day. Each day also
// has one test message for each kind of event. Some events are later than the current time.
// Reports must count neither the test messages nor these later events.
func mailed(p *product.Product) []messages.Event {
	var all []messages.Event
	add := func(kind messages.EventType, at time.Time, n, day int, test bool) {
		for i := range n {
			e := messages.Event{
				ID: fmt.Sprint(kind, day, i, test, at), MessageID: fmt.Sprint("m", day, i), Type: kind, OccurredAt: at, Recipient: fmt.Sprint(i, "@x.example"),
				Mail: messages.Mail{From: "me@y.example", SentAt: at, Test: test},
			}
			if kind == messages.Bounce {
				e.Bounced = &messages.BounceKind{Type: messages.PermanentBounce}
			}
			all = append(all, e)
		}
	}
	for day := range 9 {
		at := p.Clock.Now().AddDate(0, 0, -day).Add(-time.Minute)
		for kind, n := range map[messages.EventType]int{
			messages.Send: 60 + day, messages.Delivery: 40 + day, messages.Bounce: 7 + day, messages.Complaint: 1 + day%3, messages.Reject: 2 + day%2, messages.Open: 20 + day, messages.Click: 5 + day,
		} {
			add(kind, at, n, day, false)
			add(kind, at, 1, 100+day, true)
			add(kind, p.Clock.Now().Add(time.Second), 1, 200+day, false)
		}
	}
	return all
}

// TestTheHealthPageAgreesWithTheReports checks that the health page shows the same figures
// for a week as the reports of the REST API.
func TestTheHealthPageAgreesWithTheReports(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		now := p.Clock.Now().UTC()
		p.Clock.Freeze(time.Date(now.Year(), now.Month(), now.Day(), 15, 30, 0, 0, time.UTC))
		recordEvents(t, p, mailed(p))
		boss := owner(t, p)
		since := p.Clock.Now().Truncate(24*time.Hour).AddDate(0, 0, -6)
		delivered, engaged := report(t, p, "/v1/reports/deliverability", since), report(t, p, "/v1/reports/engagement", since)
		if len(delivered) != 7 || len(engaged) != 7 {
			t.Fatalf("%d and %d days", len(delivered), len(engaged))
		}
		number := func(row map[string]any, name string) float64 {
			n, ok := row[name].(float64)
			if !ok {
				t.Fatalf("%s of %v", name, row)
			}
			return n
		}
		sums := map[string]float64{}
		// The rate of a day covers the days up to it, at most seven. With fewer than 100
		// messages there is none.
		rate := func(part, whole string) string {
			if sums[whole] < 100 {
				return "–"
			}
			return percent(sums[part] / sums[whole])
		}
		var bars, bounces, complaints, opened []string
		for i := range delivered {
			d, e := delivered[i], engaged[i]
			day := d["period"].(string)[:len(time.DateOnly)]
			for _, name := range []string{"sent", "delivered", "bounced", "complained", "suppressed"} {
				sums[name] += number(d, name)
			}
			for _, name := range []string{"unique_opens", "unique_clicks"} {
				sums[name] += number(e, name)
			}
			bars = append(bars, fmt.Sprintf("Day Delivered Bounced Rejected: %s %.0f %.0f %.0f", day, number(d, "delivered"), number(d, "bounced"), number(d, "suppressed")))
			bounces = append(bounces, fmt.Sprintf("Day Sent Bounced Bounce rate: %s %.0f %.0f %s", day, number(d, "sent"), number(d, "bounced"), rate("bounced", "sent")))
			complaints = append(complaints, fmt.Sprintf("Day Sent Complained Complaint rate: %s %.0f %.0f %s", day, number(d, "sent"), number(d, "complained"), rate("complained", "sent")))
			opened = append(opened, fmt.Sprintf("Day Delivered Opens Clicks Open rate Click rate: %s %.0f %.0f %.0f %s %s", day, number(d, "delivered"),
				number(e, "unique_opens"), number(e, "unique_clicks"), rate("unique_opens", "delivered"), rate("unique_clicks", "delivered")))
		}
		for _, table := range [][]string{bars, bounces, complaints, opened} {
			slices.Reverse(table) // the page has the newest day first
		}
		page := boss.open("/dashboard/health?days=7")
		want := slices.Concat(bars, bounces, complaints, opened)
		shown := tablesOf(t, page) // the tables of domains and bounces follow
		if diff := cmp.Diff(want, shown[:min(len(want), len(shown))]); diff != "" {
			t.Errorf("tables (-reports +page):\n%s", diff)
		}
		for name, figure := range map[string]string{
			"sent": fmt.Sprint(sums["sent"]), "delivered": percent(sums["delivered"] / sums["sent"]), "bounced": percent(sums["bounced"] / sums["sent"]),
			"complained": percent(sums["complained"] / sums["sent"]), "opened": percent(sums["unique_opens"] / sums["delivered"]),
			"clicked": percent(sums["unique_clicks"] / sums["delivered"]),
		} {
			if name == "bounced" || name == "complained" {
				name += "</a>" // it leads to these messages
			}
			boss.wants(page, name+"</dt><dd>"+figure+"</dd>")
		}
	})
}

func percent(rate float64) string { return fmt.Sprintf("%.2f\u00a0%%", 100*rate) }
