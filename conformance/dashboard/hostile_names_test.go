package dashboard_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/core/reports"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/suppression"
	nethtml "golang.org/x/net/html"
)

// hostileNames are malicious names of channels, templates and people.
var hostileNames = []string{
	`<script>alert(1)</script>`, `" onmouseover="alert(1)`, `' autofocus onfocus='alert(1)`, `</svg><svg onload=alert(1)>`,
	`</bdi></title></textarea><img src=x onerror=alert(1)>`, "evil\u202egpj.exe", "\u2066zero\u200bwidth\u2069", `{{.}}`, `javascript:alert(1)`, `&lt;b&gt;`, "a\x1bb",
}

// checkMarkup fails the test if a page contains script, foreign elements or event handlers,
// or text with invisible or direction-changing characters.
func checkMarkup(t *testing.T, what, page string) {
	t.Helper()
	root, err := nethtml.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.Type == nethtml.TextNode {
			if _, hidden := core.VisibleText(n.Data); hidden > 0 {
				t.Errorf("%s: the text %q", what, n.Data)
			}
		}
		if n.Type != nethtml.ElementNode {
			continue
		}
		if src, _ := attribute(n, "src"); n.Data == "script" && src == "/dashboard/assets/dashboard.js" && n.FirstChild == nil {
			continue // the dashboard's own script
		}
		if slices.Contains([]string{"script", "img", "iframe", "object", "embed", "style", "base"}, n.Data) {
			t.Errorf("%s: an element %s", what, n.Data)
		}
		if n.Data == "svg" {
			if class, _ := attribute(n.Parent, "class"); class != "plot" && class != "logo" && class != "drawing" {
				t.Errorf("%s: a drawing in %s %s", what, n.Parent.Data, class)
			}
		}
		for _, a := range n.Attr {
			_, hidden := core.VisibleText(a.Val)
			if strings.HasPrefix(a.Key, "on") || a.Key == "autofocus" || hidden > 0 || strings.HasPrefix(a.Val, "javascript:") && a.Key != "value" && a.Key != "data-copy" {
				t.Errorf("%s: %s has %s=%q", what, n.Data, a.Key, a.Val)
			}
		}
	}
}

// recordEvents stores message events and updates the report figures, as the product does
// for incoming events.
func recordEvents(t *testing.T, p *product.Product, events []messages.Event) {
	t.Helper()
	figures := reports.New(reports.Config{Store: p.DB.Reports(), Clock: p.Clock.Now})
	err := p.DB.InTx(t.Context(), func(ctx context.Context) error {
		fresh, err := p.DB.Messages().RecordEvents(ctx, p.OrgID, events, p.Clock.Now())
		if err != nil {
			return err
		}
		return figures.ObserveEvents(ctx, p.OrgID, fresh)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestHostileNamesOfTheAccount(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		p.AwaitJob(t, channels.SyncArgs{}.Kind())
		last, err := p.DB.Channels().LastSync(t.Context(), p.OrgID)
		if err != nil && !core.IsNotFound(err) {
			t.Fatal(err)
		}
		seen := channels.Seen{Sync: channels.Sync{Account: "account", Region: "eu-central-1", At: p.Clock.Now()}, Previous: last.At}
		for _, name := range hostileNames {
			seen.Sets = append(seen.Sets, sending.ConfigurationSet{Name: name, TrackingDomain: name + ".example"})
			seen.Identities = append(seen.Identities, sending.Identity{Identity: name + ".example", ConfigurationSet: name, DKIMTokens: []string{name}})
		}
		if err := p.DB.Channels().Mirror(t.Context(), p.OrgID, seen); err != nil {
			t.Fatal(err)
		}
		boss := owner(t, p)
		page := boss.open("/dashboard/channels")
		checkMarkup(t, "channels", page)
		boss.wants(page, "&lt;script&gt;alert(1)&lt;/script&gt;", "{{.}}", "&amp;lt;b&amp;gt;", "evilgpj.exe")
	})
}

func TestHostileNamesOnTheHealthPage(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		at := p.Clock.Now().Add(-time.Hour)
		var all []messages.Event
		// leaves out the last name, because the page lists a limited number of bounces
		for i, name := range hostileNames[:len(hostileNames)-1] {
			all = append(all, messages.Event{
				ID: fmt.Sprint("hostile", i), MessageID: fmt.Sprint("hostile", i), Type: messages.Bounce, OccurredAt: at, Recipient: name + "@" + name + ".example",
				Bounced: &messages.BounceKind{Type: name, SubType: "and " + name}, Mail: messages.Mail{From: "me@" + name, SentAt: at, Channel: name, Template: name},
			})
		}
		recordEvents(t, p, all)
		boss := owner(t, p)
		page := boss.open("/dashboard/health")
		checkMarkup(t, "health", page)
		boss.wants(page, "&lt;script&gt;alert(1)&lt;/script&gt;", "<bdi>{{.}}</bdi>", "evilgpj.exe")

		reader := newBrowser(t, p)
		reader.signIn(person(t, p, "reader", members.PlainMember, members.MayViewAnalytics).Email, personPassword)
		checkMarkup(t, "masked", reader.open("/dashboard/health"))
	})
}

func TestHostileUndeliverableAddresses(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss, at := owner(t, p), p.Clock.Now().UTC().Truncate(time.Microsecond)
		var entries []suppression.Entry
		for i, name := range hostileNames {
			e := suppression.Entry{
				Key: suppression.AddressKey(name + "@x.example"), Email: name + "@x.example", Status: suppression.Listed, Reason: suppression.Complaint,
				FirstSeenAt: at, LastSeenAt: at, LastChangedAt: at, EventCount: 1,
			}
			if i%2 == 0 {
				e.Status, e.ExcludedAt, e.ExclusionReason = suppression.Excluded, &at, name
			}
			entries = append(entries, e)
		}
		if err := p.DB.Suppression().SaveEntries(t.Context(), p.OrgID, entries); err != nil {
			t.Fatal(err)
		}
		page := boss.open("/dashboard/undeliverable")
		checkMarkup(t, "the list", page)
		boss.wants(page, "&lt;script&gt;alert(1)&lt;/script&gt;@x.example", "evilgpj.exe")
		for _, e := range entries {
			checkMarkup(t, e.Email, boss.open("/dashboard/undeliverable/"+e.ID()))
		}
		for _, name := range hostileNames {
			if !strings.ContainsAny(name, "\x1b\u202e\u2066") {
				checkMarkup(t, "a search for "+name, boss.open("/dashboard/undeliverable?q="+url.QueryEscape(name)))
			}
		}
	})
}
