package simulated_test

import (
	"context"
	"flag"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sending/simulator/simulatortest"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/rest/dashboard/simulated"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

// hostile is text as an attacker would write it: HTML, and a character that reverses the
// order of the text after it.
const hostile = "<script>alert(1)</script>\u202egro.elpmaxe"

// office is an organization that sends with a simulated account.
type office struct {
	*frametest.Office
	account  *simulator.Simulator
	provider sending.Provider // of the stored connection, "" for none
	pages    http.Handler
}

// Connection returns a connection to an account of the office's provider.
func (o *office) Connection(context.Context, string) (sending.Connection, error) {
	if o.provider == "" {
		return sending.Connection{}, core.NotFound("connection")
	}
	return sending.Connection{Provider: o.provider}, nil
}

func newOffice(t *testing.T) *office {
	t.Helper()
	o := &office{account: simulatortest.Open(t, simulator.Options{Clock: frametest.Now, KeptMails: 100})}
	o.Office = frametest.NewOffice(t, frametest.DatabaseOf(storagetest.SQLite(t)), frame.Area{Path: frame.Path + "/account", Name: "Sending account"},
		frame.Area{Path: frame.Path + "/messages", Name: "Messages"}, frame.Area{Path: frame.Path + "/broadcasts", Name: "Broadcasts"})
	o.Must(o.account.Seed(t.Context(), o.Org.ID, simulator.Setup{
		Account:    &sending.Overview{AccountID: "123456789012", SendingEnabled: true, Max24HourSend: -1},
		Identities: []sending.Identity{{Identity: "shop.example", Verification: sending.Success}},
	}))
	room, err := simulated.New(o.Frame, simulated.Config{Account: o.account, Connections: o, UnsubscribeURL: "https://app.example/u/"})
	o.Must(err)
	o.pages = o.Open(room)
	return o
}

// send sends a mail and returns its id. change edits the mail first.
func (o *office) send(change func(*sending.Message)) string {
	o.T.Helper()
	m := sending.Message{
		Envelope: sending.Envelope{
			From: "Shop <hello@shop.example>", Tags: map[string]string{"campaign": "spring"},
			Headers: []sending.Header{{Name: "List-Unsubscribe", Value: "<mailto:out@shop.example>, <https://app.example/u/abc>"}},
		},
		To:      []string{"Ada <ada.almeida@example.com>"},
		Content: sending.Content{Subject: "Spring sale for ada.almeida@example.com", Text: "Hello Ada\nTulips", HTML: "<p>Hello <b>Ada</b></p>"},
	}
	change(&m)
	id, err := o.account.Send(o.T.Context(), o.Org.ID, m)
	o.Must(err)
	return id
}

func unchanged(*sending.Message) {}

func TestGoldenPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	golden := func(name, path string) {
		t.Helper()
		_, page := frametest.Get(t, o.pages, path)
		frametest.CompareGolden(t, name, page, *update)
	}
	golden("mails_empty", simulated.Path)
	bounced := o.send(func(m *sending.Message) {
		m.To, m.CC, m.Headers = []string{"bounce@simulator.amazonses.com"}, []string{"b@example.com", "c@example.com"}, nil
		m.Content.Subject, m.Content.HTML, m.Tags, m.ConfigurationSet = "", "", nil, ""
	})
	id := o.send(func(m *sending.Message) { m.Test = true })
	golden("mails", simulated.Path)
	golden("mails_none", simulated.Path+"?q=nothing")
	golden("mail", simulated.MailPath(id))
	golden("mail_phone", simulated.MailPath(id)+"?width=phone")
	golden("mail_bounced", simulated.MailPath(bounced))
	o.Allow(members.MayViewAnalytics)
	golden("mails_masked", simulated.Path+"?q=nothing")
	golden("mail_masked", simulated.MailPath(id))
	o.Join(members.Member{Role: members.Owner})
	o.provider = sending.SES
	golden("no_simulated_account", simulated.Path)
}

// TestMaskedPages checks that a visitor without the permission to search recipients gets no
// address, no content and no search.
func TestMaskedPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.send(unchanged)
	o.Allow(members.MayViewAnalytics)
	for _, path := range []string{simulated.Path, simulated.Path + "?q=ada.almeida", simulated.MailPath(id)} {
		status, page := frametest.Get(t, o.pages, path)
		if status != http.StatusOK || !strings.Contains(page, "a***@example.com") {
			t.Errorf("%s: %d %s", path, status, page)
		}
		for _, secret := range []string{"almeida", "Ada", "Tulips", "app.example/u/", `name="q"`} {
			if strings.Contains(page, secret) {
				t.Errorf("%s shows %q: %s", path, secret, page)
			}
		}
	}
	if status, page := frametest.Get(t, o.pages, simulated.MailPath(id)+"/html"); status != http.StatusForbidden || strings.Contains(page, "Ada") {
		t.Errorf("the HTML: %d %s", status, page)
	}
	o.Allow(members.MayViewLists)
	for _, path := range []string{simulated.Path, simulated.MailPath(id)} {
		if status, _ := frametest.Get(t, o.pages, path); status != http.StatusForbidden {
			t.Errorf("%s without permission: %d", path, status)
		}
	}
}

func TestSearchAndPages(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for range frame.PageSize {
		o.send(unchanged)
	}
	o.send(func(m *sending.Message) { m.To = []string{"ben@example.com"} })
	_, first := frametest.Get(t, o.pages, simulated.Path)
	next, _, _ := strings.Cut(strings.SplitAfter(first, `<a class="button" href="`)[1], `"`)
	if !strings.Contains(first, "ben@example.com") || strings.Count(first, `data-name="Sent"`) != frame.PageSize {
		t.Errorf("the first page: %s", first)
	}
	if _, second := frametest.Get(t, o.pages, strings.ReplaceAll(next, "&amp;", "&")); strings.Count(second, `data-name="Sent"`) != 1 || strings.Contains(second, "ben@") || !strings.Contains(second, "51 to 51") {
		t.Errorf("the second page, %s: %s", next, second)
	}
	if _, found := frametest.Get(t, o.pages, simulated.Path+"?q=BEN%40"); strings.Count(found, `data-name="Sent"`) != 1 || !strings.Contains(found, "ben@example.com") {
		t.Errorf("a search: %s", found)
	}
	if status, page := frametest.Get(t, o.pages, simulated.Path+"?cursor=x"); status != http.StatusUnprocessableEntity {
		t.Errorf("a wrong cursor: %d %s", status, page)
	}
}

// TestHTMLOfAMail checks that the HTML of a mail is served for frames only, without scripts
// and without content from the network.
func TestHTMLOfAMail(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.send(func(m *sending.Message) { m.Content.HTML = hostile })
	for into, want := range map[string]int{"iframe": http.StatusOK, "": http.StatusOK, "document": http.StatusSeeOther, "image": http.StatusSeeOther} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, simulated.MailPath(id)+"/html", nil)
		if into != "" {
			r.Header.Set("Sec-Fetch-Dest", into)
		}
		w := httptest.NewRecorder()
		o.pages.ServeHTTP(w, r)
		if w.Code != want || (w.Body.String() == hostile) != (want == http.StatusOK) {
			t.Errorf("%q: %d %s", into, w.Code, w.Body)
		}
		if want != http.StatusOK {
			continue
		}
		for name, value := range map[string]string{
			"Content-Security-Policy": "sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
			"X-Content-Type-Options":  "nosniff", "Cache-Control": "no-store",
		} {
			if got := w.Header().Get(name); got != value {
				t.Errorf("%s is %q, want %q", name, got, value)
			}
		}
	}
}

// TestHostileMail checks that texts of other people appear escaped and without characters
// that change the order of text, and that no link leads to another host.
func TestHostileMail(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.send(func(m *sending.Message) {
		m.Content = sending.Content{Subject: hostile, Text: hostile, HTML: hostile}
		m.Headers = []sending.Header{
			{Name: "X-Hostile", Value: hostile}, {Name: "List-Unsubscribe", Value: "<https://app.example.evil/u/abc>, <javascript:alert(1)>, https://app.example/u/x"},
		}
	})
	for _, path := range []string{simulated.Path, simulated.MailPath(id)} {
		_, page := frametest.Get(t, o.pages, path)
		if strings.Contains(page, "<script>alert") || strings.Contains(page, "\u202e") || !strings.Contains(page, "&lt;script&gt;") || strings.Contains(page, "Open the page that the recipient sees") {
			t.Errorf("%s shows hostile text: %s", path, page)
		}
	}
}

// TestOtherMailsAreNotFound checks that a mail of another organization, an unknown mail and
// the mail of an organization with another account cannot be read.
func TestOtherMailsAreNotFound(t *testing.T) {
	t.Parallel()
	o, other := newOffice(t), newOffice(t)
	id, foreign := o.send(unchanged), other.send(unchanged)
	for _, suffix := range []string{"", "/html"} {
		for _, unknown := range []string{foreign, "x", url.PathEscape("../"), id + "0"} {
			if status, page := frametest.Get(t, o.pages, simulated.Path+"/"+unknown+suffix); status != http.StatusNotFound || strings.Contains(page, "Tulips") {
				t.Errorf("%s%s: %d %s", unknown, suffix, status, page)
			}
		}
		for provider, want := range map[sending.Provider]int{"": http.StatusOK, sending.Simulated: http.StatusOK, sending.SES: http.StatusNotFound, sending.SMTP: http.StatusNotFound} {
			o.provider = provider
			if status, _ := frametest.Get(t, o.pages, simulated.MailPath(id)+suffix); status != want {
				t.Errorf("%q%s: %d, want %d", provider, suffix, status, want)
			}
		}
		o.provider = ""
	}
}
