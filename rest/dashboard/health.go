package dashboard

import (
	"context"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/reports"
)

const healthPath = Path + "/health"

func (d *Dashboard) healthPages() []route {
	return []route{{path: "/health", needs: access.MayViewAnalytics, get: d.showHealth}}
}

// healthWindows are the windows to choose from, in days.
var healthWindows = []int{7, 30, 90}

// healthPage is what the page shows.
type healthPage struct {
	Windows []window
	// Kept is how many days the plan keeps, when that is less than some window.
	Kept     int
	Days     int
	Empty    bool
	Warnings []reports.Warning
	Figures  []figure
	Charts   []chartShown
	Domains  []domainShown
	Bounces  []bounceShown
	Masked   bool
}

// window is a choice of how far back to look.
type window struct {
	Days    int
	Path    string
	Current string // the value of aria-current, "" when it is not
}

// figure is a number with what it counts.
type figure struct{ Number, Name string }

// chartShown is a drawing with what the page writes around it, and its figures.
type chartShown struct {
	Title, Summary   string
	Drawing          template.HTML
	Upper, Half      string
	First, Mid, Last string
	Columns          []string
	Rows             []tableRow
}

type tableRow struct {
	Day    string
	Values []string
}

type domainShown struct {
	Domain  string
	Bounced int64
}

type bounceShown struct{ Recipient, At, Kind, Template string }

func (d *Dashboard) showHealth(w http.ResponseWriter, r *http.Request, v access.Visitor) {
	days := 30
	if asked := r.URL.Query().Get("days"); asked != "" {
		days, _ = strconv.Atoi(asked)
	}
	data := healthPage{Days: days, Masked: !v.Member.Has(access.MaySearchRecipients)}
	known := false
	for _, n := range healthWindows {
		if n > v.Org.RetentionDays {
			data.Kept = v.Org.RetentionDays
			continue
		}
		shown := window{Days: n, Path: healthPath + "?days=" + strconv.Itoa(n)}
		if n == days {
			known, shown.Current = true, "true"
		}
		data.Windows = append(data.Windows, shown)
	}
	if !known {
		d.refuse(w, r, v, http.StatusUnprocessableEntity, "There is no such window", fmt.Sprintf(
			"Choose one of the windows on the page. The plan keeps %d days.", v.Org.RetentionDays))
		return
	}
	var o reports.Overview
	err := d.Expensive(r.Context(), v.Org.ID, func(ctx context.Context) error {
		var err error
		o, err = d.Reports.Overview(ctx, v.Org.ID, days, !data.Masked)
		return err
	})
	if err != nil {
		d.fail(w, r, v, err)
		return
	}
	data.fill(o)
	d.show(w, r, v, http.StatusOK, screen{page: "health", title: "Sending health", data: data})
}

func (p *healthPage) fill(o reports.Overview) {
	p.Empty = o.Totals == reports.Counts{}
	if p.Empty {
		return
	}
	p.Warnings = o.Warnings
	p.Figures = []figure{
		{grouped(o.Totals.Sent), "sent"},
		{percentage(o.Rates.Delivery), "delivered"},
		{percentage(o.Rates.Bounce), "bounced"},
		{percentage(o.Rates.Complaint), "complained"},
		{percentage(o.Rates.Open), "opened"},
		{percentage(o.Rates.Click), "clicked"},
	}
	p.Charts = []chartShown{deliveryChart(o), troubleChart(o), engagementChart(o)}
	for _, f := range o.Domains {
		p.Domains = append(p.Domains, domainShown{plainName(f.Domain), f.Bounced})
	}
	for _, b := range o.Bounces {
		kind := b.Type
		if b.SubType != "" && b.SubType != b.Type {
			kind += ", " + b.SubType
		}
		p.Bounces = append(p.Bounces, bounceShown{plainName(b.Recipient), minute(b.At), plainName(kind), plainName(b.Template)})
	}
}

// shortDay is a day as the ends of an axis have it.
func shortDay(t time.Time) string { return t.Format("2 Jan") }

// minute is a time as a list has it, UTC.
func minute(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// percentSign does not part from its number at the end of a line.
const percentSign = "\u00a0%"

// percentage is a rate with as many digits as a complaint rate needs.
func percentage(rate float64) string { return strconv.FormatFloat(100*rate, 'f', 2, 64) + percentSign }

// roundPercentage is a rate of an axis, which has few digits.
func roundPercentage(rate float64) string {
	return strconv.FormatFloat(math.Round(1e4*rate)/100, 'f', -1, 64) + percentSign
}

// grouped is a number with commas between thousands.
func grouped(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
