package oauth_test

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/smtp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/closing"
	"github.com/mailhelm/mailhelm/core/sending"
	closingstore "github.com/mailhelm/mailhelm/storage/closing"
)

// TestDeletedOrganizationIsRefused checks what a running server refuses to the credentials, inboxes
// and websites of an organization that was deleted, during the waiting time and after its data was
// erased. The same works for another organization throughout. Events of the sending account are
// accepted during the waiting time, and then refused like those to an unknown address.
func TestDeletedOrganizationIsRefused(t *testing.T) {
	t.Parallel()
	scenes(t, func(t *testing.T, s *scene) {
		ours := newDoors(s, s.p.Org)
		theirs := newDoors(s, s.p.Other)
		granted := s.checkTokensWork(s.app, s.tokens(s.app))
		ours.check("before", http.StatusOK)
		ours.checkEvents("before", http.StatusAccepted)

		orgs := closing.Organizations{
			Store: closingstore.NewOrgStore(s.p.DB.DB), Orgs: s.p.DB.Orgs(), Members: s.p.DB.Members(), Audit: s.p.DB.Audit(), Transactor: s.p.DB,
			Clock: s.p.Clock.Now, Forget: func(string) {},
		}
		_, err := orgs.Delete(t.Context(), access.ActorOf(access.Operator), s.p.OrgID)
		s.must(err)
		s.p.Clock.Advance(6 * time.Second) // servers remember callers for five seconds
		s.p.Site.Changed(t.Context())
		product.Await(t, 30*time.Second, func() error { // a notification of PostgreSQL takes a moment
			if status := s.atAPI(s.p.Live.APIKey); status != http.StatusUnauthorized {
				return fmt.Errorf("the API key gets %d", status)
			}
			return nil
		})
		ours.check("during the waiting time", http.StatusUnauthorized)
		s.refused(s.refresh(s.app, *granted.RefreshToken), "invalid_grant")
		ours.checkEvents("during the waiting time", http.StatusAccepted)
		theirs.check("beside a deleted organization", http.StatusOK)
		if n := ours.visits(); n != 1 { // a later visit of the other organization is stored
			t.Errorf("%d visits are stored, want the one before the deletion", n)
		}

		s.p.Clock.Advance(core.DeletionWait)
		nothing := func(context.Context, string) error { return nil }
		eraser := closing.Eraser{Store: orgs.Store, Orgs: s.p.DB.Orgs(), Objects: nothing, Account: nothing, Clock: s.p.Clock.Now, Log: slog.New(slog.DiscardHandler)}
		if err := eraser.Erase(t.Context(), s.p.OrgID); !core.IsNotFound(err) { // the job of the server may be first
			s.must(err)
		}
		s.p.Site.Changed(t.Context())
		ours.check("after the erasing", http.StatusUnauthorized)
		ours.checkEvents("after the erasing", http.StatusUnauthorized)
		if erased, unknown := ours.event(s.p.OrgID), ours.event("unknown"); erased != unknown {
			t.Errorf("events of an erased organization get %s, and those of an unknown one %s", erased, unknown)
		}
		theirs.checkEvents("beside an erased organization", http.StatusAccepted)
		s.refused(s.refresh(s.app, *granted.RefreshToken), "invalid_client")
		theirs.agent = "" // the token is older than an hour
		theirs.check("beside an erased organization", http.StatusOK)
		if n := ours.visits(); n != 0 {
			t.Errorf("after the erasing %d visits are stored", n)
		}
	})
}

// doors are the ways into an organization: an API key, an access token of the agent endpoint, an
// inbox, and a website.
type doors struct {
	*scene
	org                            product.Org
	agent, inbox, siteKey, visitor string
}

func newDoors(s *scene, org product.Org) *doors {
	s.t.Helper()
	d := &doors{scene: s, org: org, agent: s.p.TokenWith(s.t, org.Live, s.p.MCPURL)}
	var inbox struct{ Address string }
	d.call("/v1/inboxes", `{}`, &inbox)
	d.inbox = inbox.Address
	key, err := s.p.Site.Settings.Create(s.t.Context(), org.OrgID)
	s.must(err)
	s.p.Site.Changed(s.t.Context())
	var visitor struct {
		ID string `json:"visitor_id"`
	}
	d.call("/v1/contacts/identify", `{"email":"`+org.Contact+`"}`, &visitor)
	d.siteKey, d.visitor = key.Value, visitor.ID
	hash, now := sha256.Sum256([]byte(eventKey)), s.p.Clock.Now()
	s.must(s.p.DB.Connections(nil).SaveConnection(s.t.Context(), sending.Connection{
		OrgID: org.OrgID, Provider: sending.SES, IngestPath: org.OrgID, IngestKeyHash: hash[:], CreatedAt: now, UpdatedAt: now,
	}))
	return d
}

// eventKey is the key with which events of the sending accounts come.
const eventKey = "the key of the events"

// checkEvents checks the status of the answer to an event of the organization's sending account.
func (d *doors) checkEvents(when string, status int) {
	d.t.Helper()
	if got := d.event(d.org.OrgID); !strings.HasPrefix(got, fmt.Sprint(status)) {
		d.t.Errorf("%s: an event of the account gets %s, want %d", when, got, status)
	}
}

// event sends an event to the address with the path, and returns the status and the body of the
// answer, without its request id.
func (d *doors) event(path string) string {
	d.t.Helper()
	answer := d.p.Send(d.t, product.Request{
		Method: http.MethodPost, URL: d.p.BaseURL + "/ingest/ses/" + path, Header: product.HeaderOf("Content-Type", "application/json", "X-Api-Key", eventKey),
		Body: fmt.Sprintf(`{"detail":{"eventType":"Open","mail":{"timestamp":%[1]q,"messageId":"m","source":"a@example.com","destination":["b@example.com"]},"open":{"timestamp":%[1]q}}}`,
			d.p.Clock.Now().UTC().Format(time.RFC3339)),
	})
	var body map[string]any
	if answer.Body != "" {
		d.must(json.Unmarshal([]byte(answer.Body), &body))
	}
	delete(body, "request_id")
	return fmt.Sprint(answer.Status, " ", body)
}

// call posts to the API and reads the answer.
func (d *doors) call(path, body string, into any) {
	d.t.Helper()
	answer := d.p.Send(d.t, product.Request{Method: http.MethodPost, URL: d.p.BaseURL + path, Bearer: d.org.Live.APIKey, Body: body})
	if err := json.Unmarshal([]byte(answer.Body), into); err != nil || answer.Status >= 300 {
		d.t.Fatalf("%s: %d %s", path, answer.Status, answer.Body)
	}
}

// check checks that the API and the agent endpoint answer with the status, and that inboxes and
// beacons are accepted if and only if it is 200.
func (d *doors) check(when string, status int) {
	d.t.Helper()
	if got := d.atAPI(d.org.Live.APIKey); got != status {
		d.t.Errorf("%s: the API key gets %d", when, got)
	}
	if d.agent != "" {
		if got := d.atAgent(d.agent); got != status {
			d.t.Errorf("%s: the agent endpoint answers %d", when, got)
		}
	}
	if err := d.knock(); (err == nil) != (status == http.StatusOK) {
		d.t.Errorf("%s: mail to an inbox: %v", when, err)
	}
	before := d.visits()
	event := core.NewID()
	answer := d.p.Send(d.t, product.Request{
		Method: http.MethodPost, URL: d.p.BaseURL + "/s/visit", Header: product.HeaderOf("Content-Type", "text/plain;charset=UTF-8", "Origin", "https://shop.example"),
		Body: fmt.Sprintf(`{"site_key":%q,"visitor_id":%q,"event_id":%q,"name":"site_page"}`, d.siteKey, d.visitor, event),
	})
	if status == http.StatusOK {
		product.Await(d.t, 30*time.Second, func() error {
			if d.visits() != before+1 {
				return fmt.Errorf("%s: the visit of a website is not stored; the answer is %d %s", when, answer.Status, answer.Body)
			}
			return nil
		})
	} else if got := d.visits(); got != before {
		d.t.Errorf("%s: %d visits of websites are stored", when, got-before)
	}
}

// knock announces a mail to the inbox. It returns the refusal of the server.
func (d *doors) knock() error {
	c, err := smtp.Dial(d.p.SMTPAddr)
	if err != nil {
		return err
	}
	return errors.Join(c.Mail("ada@example.org"), c.Rcpt(d.inbox), c.Quit())
}

// visits returns the number of stored visits of websites of the organization.
func (d *doors) visits() int {
	d.t.Helper()
	var n int
	d.must(d.p.DB.Reader().QueryRowContext(d.t.Context(), `SELECT count(*) FROM activities WHERE org_id = $1 AND name = 'site_page'`, d.org.OrgID).Scan(&n))
	return n
}
