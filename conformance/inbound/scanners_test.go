package inbound

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/smtp"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound/scanning/scanningtest"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// TestScanners sends clean mail, spam and malware through a product with a real rspamd and a
// real clamd, to an inbox and to two domains, of which one has malware delivered. Then it stops
// the scanners, and starts them again.
func TestScanners(t *testing.T) {
	t.Parallel()
	spam, virus := scanningtest.StartRspamd(t), scanningtest.StartClamd(t)
	for name, postgres := range map[string]bool{"sqlite": false, "postgres": true} {
		t.Run(name, func(t *testing.T) { //nolint:paralleltest // each run stops the scanners
			h := newHook(t)
			h.patient = true
			p := product.Start(t, product.Options{Postgres: postgres, WebhookCAs: h.roots, RspamdURL: spam.URL.String(), Clamd: "unix:" + virus.Socket})
			newScanned(t, p, h).run(spam, virus)
		})
	}
	if n := spam.Queries(); n != 0 {
		t.Errorf("rspamd sent %d DNS queries", n)
	}
}

// The domains of the test. careful has the default postures; curious has malware tagged.
const (
	careful = "careful.example.com"
	curious = "curious.example.com"
)

// scanned is a product with scanners.
type scanned struct {
	t    *testing.T
	p    *product.Product
	hook *hook
	box  box
	sent int
}

func newScanned(t *testing.T, p *product.Product, h *hook) *scanned {
	t.Helper()
	for name, settings := range map[string]string{careful: `"spam_posture":"drop"`, curious: `"virus_posture":"tag"`} {
		d := receiving.Domain{ID: core.NewID(), Domain: name, Status: receiving.Verified, Records: []receiving.Record{}, CreatedAt: p.Clock.Now()}
		if err := p.DB.ReceivingDomains().InsertDomain(t.Context(), p.OrgID, d); err != nil {
			t.Fatal(err)
		}
		call(t, p, http.MethodPut, "/domains/"+name+"/webhook", `{"webhook_url":"`+h.server.URL+`/mail",`+settings+`}`, http.StatusOK, nil)
		product.Await(t, 30*time.Second, func() error {
			p.Clock.Advance(2 * time.Second)
			var published struct{ Webhook struct{ Status string } }
			call(t, p, http.MethodGet, "/domains/"+name, "", http.StatusOK, &published)
			if published.Webhook.Status != "published" {
				return errors.New(published.Webhook.Status)
			}
			return probe(p.SMTPAddr, name)
		})
	}
	return &scanned{t: t, p: p, hook: h, box: mintShared(t, p)}
}

// probe returns an error while the server refuses mail for a domain.
func probe(server, name string) error {
	c, err := smtp.Dial(server)
	if err != nil {
		return err
	}
	return errors.Join(c.Mail(""), c.Rcpt("x@"+name), c.Quit())
}

// send sends a message to the inbox and to both domains, and returns its subject.
func (s *scanned) send(kind, body string) string {
	s.t.Helper()
	s.sent++
	subject := fmt.Sprintf("%s %d", kind, s.sent)
	raw := "From: ada@example.org\r\nSubject: " + subject + "\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n" + body + "\r\n--b\r\n" +
		"Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename=a.com\r\n\r\n" +
		base64.StdEncoding.EncodeToString([]byte(map[bool]string{true: scanningtest.EICAR(), false: "harmless"}[kind == "malware"])) + "\r\n--b--\r\n"
	for _, to := range []string{s.box.Address, "a@" + careful, "b@" + curious} {
		c, err := smtp.Dial(s.p.SMTPAddr)
		if err != nil {
			s.t.Fatal(err)
		}
		if err := errors.Join(c.Mail("ada@example.org"), c.Rcpt(to)); err != nil {
			s.t.Fatal(err)
		}
		w, err := c.Data()
		if err != nil {
			s.t.Fatal(err)
		}
		if _, err := io.WriteString(w, raw); errors.Join(err, w.Close(), c.Quit()) != nil {
			s.t.Fatalf("mail to %s: %v", to, err)
		}
	}
	return subject
}

// verdicts are the spam and the malware verdict of a message.
type verdicts struct{ Spam, Virus string }

// places returns where a message arrived, with its verdicts: at the inbox, at each domain, and
// "dropped" in the log of each domain.
func (s *scanned) places(subject string) map[string]verdicts {
	s.t.Helper()
	found := map[string]verdicts{}
	var polled struct {
		Messages []struct {
			Verdicts verdicts
			Message  struct{ Subject string }
		}
	}
	answer := s.p.Send(s.t, product.Request{URL: s.box.PollURL, Bearer: s.p.Live.APIKey})
	if err := json.Unmarshal([]byte(answer.Body), &polled); err != nil {
		s.t.Fatal(err)
	}
	for _, m := range polled.Messages {
		if m.Message.Subject == subject {
			found["inbox"] = m.Verdicts
		}
	}
	for _, r := range s.hook.all() {
		var body struct {
			Domain   string
			Verdicts verdicts
			Message  struct{ Subject string }
		}
		if err := json.Unmarshal(r.body, &body); err != nil {
			s.t.Fatal(err)
		}
		if body.Message.Subject == subject {
			found[body.Domain] = body.Verdicts
		}
	}
	var log struct {
		Data []struct {
			Domain, Subject, Outcome string
			Verdicts                 verdicts
		}
	}
	call(s.t, s.p, http.MethodGet, "/messages", "", http.StatusOK, &log)
	for _, m := range log.Data {
		if m.Subject == subject && m.Outcome == "dropped" {
			found["dropped at "+m.Domain] = m.Verdicts
		}
	}
	return found
}

// expect waits until a message has arrived at exactly these places. An inbox never has a
// message that is not in want, so dropped messages are counted instead.
func (s *scanned) expect(subject string, want map[string]verdicts) {
	s.t.Helper()
	product.Await(s.t, 30*time.Second, func() error {
		s.p.Clock.Advance(time.Second)
		if got := s.places(subject); fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Errorf("%s: %v, want %v", subject, got, want)
		}
		return nil
	})
}

func (s *scanned) run(spam *scanningtest.Rspamd, virus *scanningtest.Clamd) {
	s.t.Helper()
	clean, junk, malware := verdicts{"PASS", "PASS"}, verdicts{"FAIL", "PASS"}, verdicts{"PASS", "FAIL"}
	s.expect(s.send("clean", "Hello"), map[string]verdicts{"inbox": clean, careful: clean, curious: clean})
	s.expect(s.send("spam", scanningtest.GTUBE()), map[string]verdicts{"inbox": junk, "dropped at " + careful: junk, curious: junk})
	s.expect(s.send("malware", "Hello"), map[string]verdicts{"dropped at " + careful: malware, curious: malware})
	product.Await(s.t, 30*time.Second, func() error {
		var counted struct {
			Dropped int `json:"dropped_count"`
		}
		answer := s.p.Send(s.t, product.Request{URL: s.p.BaseURL + "/v1/inboxes/" + s.box.ID, Bearer: s.p.Live.APIKey})
		if err := json.Unmarshal([]byte(answer.Body), &counted); err != nil || counted.Dropped != 1 {
			return fmt.Errorf("%d messages are dropped, answer %q", counted.Dropped, answer.Body)
		}
		return nil
	})
	spam.Stop()
	virus.Stop()
	failed := verdicts{"PROCESSING_FAILED", "PROCESSING_FAILED"}
	s.expect(s.send("malware", "Hello"), map[string]verdicts{"inbox": failed, careful: failed, curious: failed})
	spam.Start(s.t)
	virus.Start(s.t)
	product.Await(s.t, 30*time.Second, func() error {
		s.p.Clock.Advance(10 * time.Second) // until the scanners are asked again
		subject := s.send("spam", scanningtest.GTUBE())
		s.expectSoon(subject)
		if got := s.places(subject); got["inbox"] != junk {
			return fmt.Errorf("after the scanners are back: %v", got)
		}
		return nil
	})
}

// expectSoon waits until a message that is not malware has arrived at the inbox.
func (s *scanned) expectSoon(subject string) {
	s.t.Helper()
	product.Await(s.t, 30*time.Second, func() error {
		if _, arrived := s.places(subject)["inbox"]; !arrived {
			return errors.New("the inbox has no " + subject)
		}
		return nil
	})
}

// TestWithoutScanners checks the verdicts of a product without scanners and without a name
// server in a webhook; those in a poll are checked in package inboxes.
func TestWithoutScanners(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		h := newHook(t)
		h.patient = true
		s := newScanned(t, product.Start(t, product.Options{Postgres: postgres, WebhookCAs: h.roots}), h)
		disabled := verdicts{"DISABLED", "DISABLED"}
		s.expect(s.send("malware", scanningtest.GTUBE()), map[string]verdicts{"inbox": disabled, careful: disabled, curious: disabled})
	})
}
