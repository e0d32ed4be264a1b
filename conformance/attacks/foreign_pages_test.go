package attacks_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/senders"
)

// receivedMail has the ids of objects of received mail of one organization.
type receivedMail struct{ inbox, token, claim, domain, message string }

// absentMail has ids of objects that do not exist.
func absentMail() receivedMail {
	return receivedMail{core.NewID(), core.NewID(), core.NewID(), core.NewID(), core.NewID()}
}

// receiveMail stores an object of each kind in an organization, for all of its members.
func receiveMail(t *testing.T, p *product.Product, orgID, domain string) receivedMail {
	t.Helper()
	r, now := absentMail(), p.Clock.Now()
	check := func(ok bool, err error) {
		t.Helper()
		if err != nil || !ok {
			t.Fatal(ok, err)
		}
	}
	stored, err := p.DB.Inboxes().InsertInbox(t.Context(), inboxes.Inbox{
		ID: r.inbox, OrgID: orgID, LocalPart: r.inbox, Owner: core.NewID(), Caller: core.NewID(), Label: "secret", Visibility: inboxes.Shared, CreatedAt: now, ExpiresAt: now.Add(time.Hour),
		First: inboxes.Token{ID: r.token, InboxID: r.inbox, Hash: []byte(r.token), Prefix: "own", Label: "secret", CreatedAt: now},
	})
	check(stored, err)
	stored, err = p.DB.VerifiedSenders().InsertClaim(t.Context(), orgID, senders.Claim{ID: r.claim, Owner: core.NewID(), Email: "secret@" + domain, StartID: core.NewID(), CodeExpiresAt: now.Add(time.Minute), CreatedAt: now})
	check(stored, err)
	check(true, p.DB.ReceivingDomains().InsertDomain(t.Context(), orgID, receiving.Domain{ID: r.domain, Domain: domain, Status: receiving.Verified, Records: []receiving.Record{}, CreatedAt: now}))
	m := inbound.Message{ID: core.NewID(), ReceivedAt: now, Subject: "secret"}
	added, err := p.DB.ReceivedDeliveries().Add(t.Context(), orgID, receiving.LogEntry{
		Message: receiving.Message{ID: r.message, MessageID: m.ID, DomainID: r.domain, Domain: domain, Subject: "secret", Recipients: []string{"help@" + domain}, Outcome: receiving.UnknownDomain, ReceivedAt: now, UpdatedAt: now},
		States:  []receiving.State{{State: receiving.UnknownDomain, OccurredAt: now}}, Content: &m, ExpiresAt: now.Add(receiving.Kept),
	})
	check(len(added) == 1 && added[0].New, err)
	return r
}

// pages returns the pages and forms of the dashboard about the objects, by method and path.
func (r receivedMail) pages() [][2]string {
	var all [][2]string
	for _, path := range []string{
		"/inboxes/" + r.inbox, "/inboxes/" + r.inbox + "/messages/1", "/inboxes/" + r.inbox + "/messages/1/html", "/inboxes/" + r.inbox + "/edit", "/inboxes/" + r.inbox + "/delete", "/inboxes/" + r.inbox + "/links",
		"/received-mail/" + r.message, "/receiving/" + r.domain, "/receiving/" + r.domain + "/delete", "/receiving/" + r.domain + "/webhook", "/receiving/" + r.domain + "/webhook/rotate",
		"/receiving/" + r.domain + "/webhook/delete", "/receiving/" + r.domain + "/addresses", "/verified-senders/" + r.claim,
	} {
		all = append(all, [2]string{http.MethodGet, path})
	}
	for _, path := range []string{
		"/inboxes/" + r.inbox + "/edit", "/inboxes/" + r.inbox + "/links", "/inboxes/" + r.inbox + "/links/" + r.token + "/revoke", "/received-mail/" + r.message + "/resend",
		"/receiving/" + r.domain + "/verify", "/receiving/" + r.domain + "/webhook", "/receiving/" + r.domain + "/webhook/rotate", "/receiving/" + r.domain + "/webhook/delete",
		"/receiving/" + r.domain + "/webhook/test", "/receiving/" + r.domain + "/webhook/resend", "/receiving/" + r.domain + "/addresses", "/receiving/" + r.domain + "/addresses/delete",
		"/inboxes/" + r.inbox + "/delete", "/receiving/" + r.domain + "/delete",
		"/verified-senders/" + r.claim, "/verified-senders/" + r.claim + "/remove",
	} {
		all = append(all, [2]string{http.MethodPost, path})
	}
	return all
}

// changing matches what differs between two answers to the same request.
var changing = regexp.MustCompile(`req_[0-9A-Za-z-]+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|value="[^"]*"|nonce-[^']*`)

// TestPagesOfOthers opens each page of the dashboard about received mail, and submits each form,
// with the ids of another organization. The answers must be those for ids that do not exist, and
// lists must not have the objects. Then it does the same with ids of the own organization, which
// must have other answers.
func TestPagesOfOthers(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		foreign, own, absent := receiveMail(t, p, p.Other.OrgID, "foreign.example.com"), receiveMail(t, p, p.OrgID, "own.example.com"), absentMail()
		b := newVisitor(t, p)
		form := b.form("/inboxes/new")
		for n, page := range foreign.pages() {
			wanted, owned := absent.pages()[n], own.pages()[n]
			want, got := b.open(wanted[0], wanted[1], form), b.open(page[0], page[1], form)
			if want.status != got.status || want.status < 400 || changing.ReplaceAllString(want.body, "") != changing.ReplaceAllString(got.body, "") || strings.Contains(got.body, "secret") {
				t.Errorf("%s %s: %d, and %d for one that does not exist: %.300s", page[0], page[1], got.status, want.status, got.body)
			}
			if seen := b.open(owned[0], owned[1], form); seen.status == http.StatusForbidden || seen.status == http.StatusNotFound && !hasNone(page[1]) {
				t.Errorf("%s %s of the own organization: %d", owned[0], owned[1], seen.status)
			}
		}
		for _, path := range []string{"/inboxes?status=all", "/received-mail", "/received-mail?domain=foreign.example.com", "/receiving", "/verified-senders", "/mail-storage"} {
			got := b.open(http.MethodGet, path, "")
			for _, id := range []string{foreign.inbox, foreign.message, foreign.domain, foreign.claim, "help@foreign.example.com"} {
				if got.status != http.StatusOK || strings.Contains(got.body, id) {
					t.Errorf("%s has %s of another organization: %d", path, id, got.status)
				}
			}
		}
		if kept, err := p.DB.Inboxes().Inbox(t.Context(), p.Other.OrgID, foreign.inbox); err != nil || kept.DeletedAt != nil || kept.First.RevokedAt != nil || kept.Label != "secret" {
			t.Errorf("the inbox of the other organization is %+v, %v", kept, err)
		}
		if _, err := p.DB.ReceivingDomains().Domain(t.Context(), p.Other.OrgID, foreign.domain); err != nil {
			t.Errorf("the domain of the other organization: %v", err)
		}
	})
}

// hasNone reports whether the own organization has nothing at a path either: its inbox has no
// message, and the visitor no claim.
func hasNone(path string) bool {
	return strings.Contains(path, "/messages/") || strings.HasPrefix(path, "/verified-senders/")
}

// visitor is a browser in which the demo user has signed in.
type visitor struct {
	t    *testing.T
	p    *product.Product
	http http.Client
}

func newVisitor(t *testing.T, p *product.Product) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{t, p, *p.HTTP}
	v.http.Jar = jar
	answer := product.Send(t, &v.http, product.Request{Method: http.MethodPost, URL: p.AppURL + "/login", Body: url.Values{"email": {p.UserEmail}, "password": {p.UserPassword}}.Encode(), Header: formHeader(p)})
	if answer.Status != http.StatusSeeOther {
		t.Fatalf("sign in: %d", answer.Status)
	}
	return v
}

func formHeader(p *product.Product) map[string]string {
	return map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Origin": p.AppURL}
}

// open requests a page of the dashboard, or submits a form.
func (v *visitor) open(method, path, form string) reply {
	v.t.Helper()
	r := product.Request{Method: method, URL: v.p.AppURL + "/dashboard" + path}
	if method == http.MethodPost {
		r.Body, r.Header = form+"&token="+v.token("/dashboard"+path), formHeader(v.p)
	}
	got := product.Send(v.t, &v.http, r)
	return reply{got.Status, got.Header, got.Body, 0}
}

// token returns the token of a form, which a program with the cookie of a session can compute.
func (v *visitor) token(path string) string {
	v.t.Helper()
	host, err := url.Parse(v.p.AppURL)
	if err != nil {
		v.t.Fatal(err)
	}
	for _, cookie := range v.http.Jar.Cookies(host) {
		if cookie.Name == "mailhelm_session" {
			mac := hmac.New(sha256.New, []byte(cookie.Value))
			mac.Write([]byte("mailhelm form 1\x00" + v.p.OrgID + "\x00dashboard\x00" + path))
			return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(mac.Sum(nil))
		}
	}
	v.t.Fatal("no session")
	return ""
}

// form returns values that the forms of the dashboard accept.
func (v *visitor) form(path string) string {
	v.t.Helper()
	page := v.open(http.MethodGet, path, "").want(v.t, http.StatusOK)
	values := url.Values{
		"label": {"x"}, "local_part": {"x"}, "code": {"123456"}, "confirm": {"foreign.example.com"}, "url": {"https://hooks.example.net/x"}, "from": {"2026-01-01"}, "to": {"2026-01-02"},
	}
	values.Set("token", "")
	for _, found := range regexp.MustCompile(`name="([^"]+)"[^>]* value="([^"]*)"`).FindAllStringSubmatch(page.body, -1) {
		if !values.Has(found[1]) {
			values.Set(found[1], found[2])
		}
	}
	values.Del("token")
	return values.Encode()
}
