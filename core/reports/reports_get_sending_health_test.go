package reports_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/goldentest"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/reports"
)

var update = flag.Bool("update", false, "write the golden file anew")

// twoWeeks returns the events of one week without problems, and of a second week in which
// one template bounces and a new channel sends.
func twoWeeks() []messages.Event {
	var all []messages.Event
	for day := range 14 {
		at := now.AddDate(0, 0, -day-1)
		bad := 0
		if day < 7 {
			bad = 40
		}
		all = append(all, mail{fmt.Sprint("a", day), at, "shop-set", "welcome", map[messages.EventType]int{
			messages.Send: 100, messages.Delivery: 100 - bad, messages.Bounce: bad, messages.Open: 30, messages.Click: 5,
		}}.events()...)
		all = append(all, mail{fmt.Sprint("b", day), at, "bills", "bill", map[messages.EventType]int{
			messages.Send: 200, messages.Delivery: 200, messages.Open: 80,
		}}.events()...)
	}
	return append(all, mail{"c", now.Add(-time.Hour), "new", "first", map[messages.EventType]int{
		messages.Send: 10, messages.Delivery: 10, messages.Complaint: 1,
	}}.events()...)
}

func TestGoldenHealthOfTwoWeeks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if err := b.record(t.Context(), twoWeeks()); err != nil {
		t.Fatal(err)
	}
	from := now.AddDate(0, 0, -7).Format(time.RFC3339)
	got, err := call[json.RawMessage](t.Context(), b, core.Agent, "reports_get_sending_health", map[string]any{"from": from})
	if err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, got, "", "  "); err != nil {
		t.Fatal(err)
	}
	golden := filepath.Join("testdata", "sending_health.json")
	if *update {
		if err := goldentest.Write(golden, append(indented.Bytes(), '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if indented.String()+"\n" != string(want) {
		t.Errorf("got\n%s\nwant\n%s", indented.String(), want)
	}
}

func (b *bundle) health(t *testing.T, in map[string]any) reports.Health {
	t.Helper()
	h, err := call[reports.Health](t.Context(), b, core.Agent, "reports_get_sending_health", in)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestHealthNarrowed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	if err := b.record(t.Context(), twoWeeks()); err != nil {
		t.Fatal(err)
	}
	if h := b.health(t, map[string]any{"channel": "shop"}); h.Totals.Sent != 1400 || len(h.Notable) != 2 {
		t.Errorf("of a channel: %+v", h)
	}
	if h := b.health(t, map[string]any{"identity": "x@SHOP.example"}); h.Totals.Sent != 4210 {
		t.Errorf("of an identity: %+v", h.Totals)
	}
	if h := b.health(t, map[string]any{"identity": "other.example"}); h.Totals != (reports.Counts{}) || len(h.Trend) != 0 {
		t.Errorf("of a strange identity: %+v", h)
	}
	_, err := call[reports.Health](t.Context(), b, core.Agent, "reports_get_sending_health", map[string]any{"channel": "no"})
	wantRefusal(t, err, core.CodeNotFound)
}

func TestHealthOfNothing(t *testing.T) {
	t.Parallel()
	h := setup(t).health(t, nil)
	if len(h.Warning) != 1 || h.Warning[0].Code != reports.LowVolume || h.Changed != "Nothing was sent, in this window or in the one before." {
		t.Errorf("%+v", h)
	}
}

func TestHealthComparesNothingThatIsNotKept(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.org.RetentionDays = 30
	if h := b.health(t, nil); h.Before != nil || !strings.HasPrefix(h.Changed, "Not compared") {
		t.Errorf("%+v", h)
	}
	if h := b.health(t, map[string]any{"from": now.AddDate(0, 0, -15).Format(time.RFC3339)}); h.Before == nil {
		t.Errorf("%+v", h)
	}
}

// TestHealthIsBounded checks that the size of the result of reports_get_sending_health is
// limited, for long names and for windows of 1 to 4,000 days.
func TestHealthIsBounded(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.org.RetentionDays = 4000
	var events []messages.Event
	for i := range 120 {
		name := strings.Repeat("ü\"\u202e<b>", 30) + fmt.Sprint(i)
		events = append(events, mail{fmt.Sprint("d", i), now.AddDate(0, 0, -i*25-1), name, name, map[messages.EventType]int{
			messages.Send: 3, messages.Bounce: 1 + i%2, messages.Complaint: 1,
		}}.events()...)
	}
	if err := b.record(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	for _, days := range []int{1, 31, 40, 800, 1500, 4000} {
		for _, group := range []string{"day", "week", "month"} {
			in := map[string]any{"from": now.AddDate(0, 0, -days).Format(time.RFC3339), "group_by": group}
			raw, err := call[json.RawMessage](t.Context(), b, core.Agent, "reports_get_sending_health", in)
			if err != nil {
				t.Fatal(err)
			}
			if h := b.health(t, in); len(raw) > 8000 || len(h.Trend) > 31 || len(h.Notable) > 8 {
				t.Errorf("%d days by %s: %d bytes, %d points, %d movers", days, group, len(raw), len(h.Trend), len(h.Notable))
			}
			if strings.Contains(string(raw), "\u202e") {
				t.Error("a name conceals something")
			}
		}
	}
}
