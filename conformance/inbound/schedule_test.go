package inbound

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/inbound/verifier"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/standardhooks"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// schedule has the waits between the tries of a delivery.
var schedule = []time.Duration{time.Second, 5 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 8 * time.Hour}

// TestScheduleAcrossRestarts lets all tries of a delivery fail while the server is restarted
// twice. Each try must come after its wait, with the same webhook-id and in the log. After an hour
// the dashboard shows an alert. A person then sends the message again, alone and with the others
// of its hour.
func TestScheduleAcrossRestarts(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		u := newUnruly(t)
		p := product.Start(t, product.Options{Postgres: postgres, WebhookCAs: u.roots})
		p.Clock.Freeze(p.Clock.Now())
		open(t, p, domain, u.URL+"/fails")
		received := p.Clock.Now()
		mailTo(t, p, "x@"+domain)
		e := awaitStates(t, p, domain, 2)
		for i, wait := range schedule {
			if i == 1 || i == 4 {
				p.Restart(t)
			}
			if alert := alerts(t, p); alert != (p.Clock.Now().Sub(e.States[1].OccurredAt) >= time.Hour) {
				t.Errorf("after %d tries: alert %v", i+1, alert)
			}
			p.Clock.Advance(wait)
			e = awaitStates(t, p, domain, i+3)
			if took := e.States[i+2].OccurredAt.Sub(e.States[i+1].OccurredAt); took != wait {
				t.Errorf("try %d came after %v, want %v", i+2, took, wait)
			}
		}
		if e.Outcome != "delivery_failed" || len(e.States) != standardhooks.Tries+1 {
			t.Errorf("%+v", e)
		}
		for _, s := range e.States[1:] {
			if s.HTTPStatus == nil || *s.HTTPStatus != http.StatusInternalServerError || !strings.Contains(s.Detail, "is full") {
				t.Errorf("%+v", s)
			}
		}
		u.cure()
		operator := access.ActorOf(access.Operator)
		if err := desk(p).Resend(t.Context(), operator, p.OrgID, e.ID); err != nil {
			t.Fatal(err)
		}
		awaitStates(t, p, domain, len(e.States)+2)
		if n, err := desk(p).ResendWindow(t.Context(), operator, p.OrgID, domain, received, received.Add(time.Hour)); err != nil || n != 1 {
			t.Errorf("%d messages of the window are sent again, %v", n, err)
		}
		if e = awaitStates(t, p, domain, len(e.States)+4); e.Outcome != "delivered" || alerts(t, p) {
			t.Errorf("%+v, alert %v", e, alerts(t, p))
		}
		want := slices.Repeat([]string{e.ID}, standardhooks.Tries+2)
		if got := u.ids["/fails"]; !slices.Equal(got, want) {
			t.Errorf("webhook-ids %v, want %v", got, want)
		}
	})
}

// alerts reports whether the dashboard shows its owner an alert about the domain.
func alerts(t *testing.T, p *product.Product) bool {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := *p.HTTP
	client.Jar = jar
	form := url.Values{"email": {p.UserEmail}, "password": {p.UserPassword}}.Encode()
	product.Send(t, &client, product.Request{
		Method: http.MethodPost, URL: p.AppURL + "/login", Body: form, Header: product.HeaderOf("Content-Type", "application/x-www-form-urlencoded", "Origin", p.AppURL),
	})
	page := product.Send(t, &client, product.Request{URL: p.AppURL + "/dashboard/receiving"})
	if page.Status != http.StatusOK || !strings.Contains(page.Body, domain) {
		t.Fatalf("%d %s", page.Status, page.Body)
	}
	return strings.Contains(page.Body, "Every delivery to the webhook of "+domain)
}

// TestNodeVerifier checks deliveries of the server with the Node.js library of Standard Webhooks:
// one that is valid, changed ones, and one before and after the secret was rotated.
func TestNodeVerifier(t *testing.T) {
	t.Parallel()
	h := newHook(t)
	p := product.Start(t, product.Options{WebhookCAs: h.roots})
	secret := open(t, p, domain, h.server.URL)
	mailTo(t, p, "x@"+domain)
	awaitStates(t, p, domain, 2)
	first := arrived(t, h, 0)
	var rotated struct {
		Secret string `json:"hmac_secret"`
	}
	call(t, p, http.MethodPost, "/domains/"+domain+"/webhook/rotate-secret", "", http.StatusOK, &rotated)
	p.Clock.Advance(time.Second)
	awaitStates(t, p, domain, 3)
	second := arrived(t, h, 1)

	changed := func(header, value, body string) verifier.Webhook {
		w := verifier.Webhook{Headers: map[string]string{}, Body: body}
		maps.Copy(w.Headers, first.Headers)
		if header != "" {
			w.Headers[header] = value
		}
		return w
	}
	at := time.Now().Add(-6 * time.Minute)
	old := changed("webhook-timestamp", strconv.FormatInt(at.Unix(), 10), first.Body)
	var err error
	if old.Headers["webhook-signature"], err = standardhooks.Sign(old.Headers["webhook-id"], at, []byte(old.Body), secret); err != nil {
		t.Fatal(err)
	}
	for key, cases := range map[string]map[string]struct {
		webhook verifier.Webhook
		valid   bool
	}{
		secret: {
			"as it arrived":                  {first, true},
			"another body":                   {changed("", "", strings.Replace(first.Body, "Hello", "Hallo", 1)), false},
			"another id":                     {changed("webhook-id", "other", first.Body), false},
			"another time":                   {changed("webhook-timestamp", strconv.FormatInt(time.Now().Unix()+1, 10), first.Body), false},
			"an old time with its signature": {old, false},
			"no signature":                   {changed("webhook-signature", "", first.Body), false},
			"after the secret was rotated":   {second, false},
		},
		rotated.Secret: {"with the new secret": {second, true}, "with the secret before": {first, false}},
	} {
		names := slices.Sorted(maps.Keys(cases))
		webhooks := make([]verifier.Webhook, len(names))
		for i, name := range names {
			webhooks[i] = cases[name].webhook
		}
		for i, got := range verifier.Verify(t, key, webhooks) {
			if (got == "") != cases[names[i]].valid {
				t.Errorf("%s: %q", names[i], got)
			}
		}
	}
	if first.Headers["webhook-id"] != second.Headers["webhook-id"] {
		t.Error("the second try has another webhook-id")
	}
}

// arrived returns a request of a hook, counted from 0.
func arrived(t *testing.T, h *hook, n int) verifier.Webhook {
	t.Helper()
	var all []request
	product.Await(t, patience, func() error {
		if all = h.all(); len(all) != n+1 {
			return fmt.Errorf("%d requests: %w", len(all), io.ErrUnexpectedEOF)
		}
		return nil
	})
	w := verifier.Webhook{Headers: map[string]string{}, Body: string(all[n].body)}
	for name := range all[n].header {
		w.Headers[strings.ToLower(name)] = all[n].header.Get(name)
	}
	return w
}
