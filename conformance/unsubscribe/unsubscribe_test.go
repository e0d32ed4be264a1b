package unsubscribe

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	links "github.com/mailhelm/mailhelm/core/unsubscribe"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// topic is a topic of the demo organization.
const topic = "offers"

// oneClick is the body of the request with which mailbox providers unsubscribe.
const oneClick = "List-Unsubscribe=One-Click"

// recipient is a contact of the demo organization that has chosen the topic.
type recipient struct {
	p         *product.Product
	id, email string
}

// newRecipient creates a contact with the address.
func newRecipient(t *testing.T, p *product.Product, email string) recipient {
	t.Helper()
	answer := p.Send(t, product.Request{
		Method: http.MethodPost, URL: p.BaseURL + "/v1/contacts", Bearer: p.Live.APIKey,
		Body: `{"email":"` + email + `","topic_preferences":{"` + topic + `":"OPT_IN"}}`,
	})
	var made struct{ ID string }
	if err := json.Unmarshal([]byte(answer.Body), &made); err != nil || made.ID == "" {
		t.Fatalf("%d %s", answer.Status, answer.Body)
	}
	return recipient{p, made.ID, email}
}

// link returns the link of a mail about a topic, "" for none.
func (r recipient) link(t *testing.T, about string) links.Link {
	t.Helper()
	link, err := r.p.UnsubscribeLinks(t).For(r.p.OrgID, links.Recipient{ContactID: r.id, SendID: core.NewID(), Topic: about})
	if err != nil {
		t.Fatal(err)
	}
	return link
}

// post submits a form without cookies or referrer, as a mailbox provider does.
func (r recipient) post(t *testing.T, address, form string) product.Answer {
	t.Helper()
	return r.p.Send(t, product.Request{
		Method: http.MethodPost, URL: address, Body: form, Header: product.HeaderOf("Content-Type", "application/x-www-form-urlencoded"),
	})
}

// checkConsent reads the contact over REST and at the sending account, and compares both.
func (r recipient) checkConsent(t *testing.T, when string, all bool, choice sending.Subscription) {
	t.Helper()
	if err := r.consentOverREST(t, all, choice); err != nil {
		t.Errorf("%s: %v", when, err)
	}
	if err := r.consentAtAccount(t, all, choice); err != nil {
		t.Errorf("%s: %v", when, err)
	}
}

func (r recipient) consentOverREST(t *testing.T, all bool, choice sending.Subscription) error {
	t.Helper()
	answer := r.p.Send(t, product.Request{URL: r.p.BaseURL + "/v1/contacts/" + url.PathEscape(r.email), Bearer: r.p.Live.APIKey})
	if want := fmt.Sprintf(`"unsubscribe_all":%v`, all); !strings.Contains(answer.Body, want) ||
		!strings.Contains(answer.Body, `{"topic":"`+topic+`","subscription_status":"`+string(choice)+`"}`) {
		return fmt.Errorf("REST says %d %s", answer.Status, answer.Body)
	}
	return nil
}

func (r recipient) consentAtAccount(t *testing.T, all bool, choice sending.Subscription) error {
	t.Helper()
	held, err := r.p.Simulator.Contact(t.Context(), r.p.OrgID, r.email)
	if err == nil && (held.UnsubscribeAll != all || !maps.Equal(held.Preferences, map[string]sending.Subscription{topic: choice})) {
		err = fmt.Errorf("the account has %+v", held)
	}
	return err
}

// TestUnsubscribe opens a link as a scanner does, unsubscribes with one click, subscribes
// again and saves preferences. After each step, REST and the sending account agree.
func TestUnsubscribe(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		r := newRecipient(t, p, "ada.links@example.com")
		ofTopic, ofAll := r.link(t, topic), r.link(t, "")
		for _, link := range []links.Link{ofTopic, ofAll} {
			for _, address := range []string{link.Unsubscribe, link.Preferences} {
				for _, method := range []string{http.MethodGet, http.MethodHead} {
					answer := p.Send(t, product.Request{Method: method, URL: address})
					if answer.Status != http.StatusOK || (method == http.MethodGet) != strings.Contains(answer.Body, "a***@example.com") || answer.Header.Get("Set-Cookie") != "" {
						t.Errorf("%s %s: %d %s", method, address, answer.Status, answer.Body)
					}
				}
			}
		}
		r.checkConsent(t, "after GET", false, sending.OptIn)
		for _, step := range []struct {
			name, address, form, text string
			all                       bool
			choice                    sending.Subscription
		}{
			{"one click", ofTopic.Unsubscribe, oneClick, "You are unsubscribed", false, sending.OptOut},
			{"one click again", ofTopic.Unsubscribe, oneClick, "You are unsubscribed", false, sending.OptOut},
			{"subscribe again", ofTopic.Unsubscribe, "action=subscribe", "You are subscribed again", false, sending.OptIn},
			{"one click, all mail", ofAll.Unsubscribe, oneClick, "You are unsubscribed", true, sending.OptIn},
			{"subscribe to all mail again", ofAll.Unsubscribe, "action=subscribe", "You are subscribed again", false, sending.OptIn},
			{"preferences", ofTopic.Preferences, "action=save&shown=" + topic, "Your choices are saved", false, sending.OptOut},
			{"no mail at all", ofTopic.Preferences, "action=save&none=yes&shown=" + topic + "&topic=" + topic, "Your choices are saved", true, sending.OptOut},
		} {
			answer := r.post(t, step.address, step.form)
			if answer.Status != http.StatusOK || !strings.Contains(answer.Body, step.text) {
				t.Errorf("%s: %d %s", step.name, answer.Status, answer.Body)
			}
			r.checkConsent(t, step.name, step.all, step.choice)
		}
	})
}

// TestUnsubscribeWhileTheAccountIsDown checks that a recipient can unsubscribe while the
// sending account cannot be reached: lists of contacts say so at once, and the account as
// soon as it answers again.
func TestUnsubscribeWhileTheAccountIsDown(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		p.AwaitJob(t, bulk.PushArgs{}.Kind())
		r := newRecipient(t, p, "ben.links@example.com")
		p.Simulator.Faults().Set(simulator.Fault{Kind: sending.Refused})
		if answer := r.post(t, r.link(t, topic).Unsubscribe, oneClick); answer.Status != http.StatusOK {
			t.Fatalf("%d %s", answer.Status, answer.Body)
		}
		out := p.Send(t, product.Request{URL: p.BaseURL + "/v1/contacts?topic=" + topic + "&subscription_status=OPT_OUT", Bearer: p.Live.APIKey})
		if !strings.Contains(out.Body, r.email) {
			t.Errorf("the mirror does not list the contact: %d %s", out.Status, out.Body)
		}
		p.Simulator.Faults().Clear()
		if err := r.consentOverREST(t, false, sending.OptOut); err != nil {
			t.Errorf("before the push: %v", err)
		}
		p.Clock.Advance(time.Minute) // a run of the job while the account was down has postponed the push
		queue, err := p.DB.NewJobs(engine.JobsConfig{})
		if err == nil {
			err = queue.Enqueue(t.Context(), bulk.PushArgs{OrgID: p.OrgID})
		}
		if err != nil {
			t.Fatal(err)
		}
		product.Await(t, time.Minute, func() error { return r.consentAtAccount(t, false, sending.OptOut) })
		r.checkConsent(t, "after the push", false, sending.OptOut)
	})
}

// TestBadLinks checks links of another installation, of another organization's contact and
// of no form at all.
func TestBadLinks(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		r := newRecipient(t, p, "cy.links@example.com")
		good := r.link(t, "").Unsubscribe
		for _, address := range []string{p.AppURL + "/u/", p.AppURL + "/u/x", good + "x", good[:len(good)-1], good + "/", p.AppURL + "/u/" + url.PathEscape("../login")} {
			for _, method := range []string{http.MethodGet, http.MethodPost} {
				answer := p.Send(t, product.Request{Method: method, URL: address, Body: oneClick, Header: product.HeaderOf("Content-Type", "application/x-www-form-urlencoded")})
				if answer.Status != http.StatusNotFound || !strings.Contains(answer.Body, "This link does not work") || strings.Contains(answer.Body, p.OrgID) {
					t.Errorf("%s %s: %d %s", method, address, answer.Status, answer.Body)
				}
			}
		}
		foreign, err := p.UnsubscribeLinks(t).For(p.Other.OrgID, links.Recipient{ContactID: r.id})
		if err != nil {
			t.Fatal(err)
		}
		if answer := r.post(t, foreign.Unsubscribe, oneClick); answer.Status != http.StatusOK || strings.Contains(answer.Body, "c***") {
			t.Errorf("a link of the other organization: %d %s", answer.Status, answer.Body)
		}
		r.checkConsent(t, "after bad links", false, sending.OptIn)
	})
}
