package dashboard_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/core/sending"
)

const (
	accountPage     = "/dashboard/account"
	connectPage     = accountPage + "/connect"
	accountKeyID    = "AKIDEXAMPLE000000"
	accountSecret   = `s3cret"<of>&acme`
	accountRole     = "arn:aws:iam::111122223333:role/mailhelm"
	accountTopic    = "arn:aws:sns:eu-central-1:111122223333:mailhelm"
	privateMailHost = "10.1.2.3"
)

var (
	shownEventsKey = regexp.MustCompile(`<pre class="secret" tabindex="0"><code>([A-Z2-7]{52})</code>`)
	shownAddress   = regexp.MustCompile(`<code>(http[^<]*/ingest/ses/[a-z2-7]{32})</code>`)
)

// connection returns the stored connection to the sending account.
func connection(t *testing.T, p *product.Product) (sending.Connection, error) {
	t.Helper()
	return p.Connections.Connection(t.Context(), p.OrgID)
}

func (b *browser) connect(provider string, fill func(url.Values)) string {
	b.t.Helper()
	return b.submit(b.open(connectPage+"?provider="+provider), connectPage, fill)
}

func TestConnectingAmazon(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss := owner(t, p)
		boss.wants(boss.open(accountPage), "Connect a sending account")
		boss.wants(boss.open(connectPage+"?provider=ses"), `href="`+p.AppURL+`/docs/guides/sending-account"`)
		page := boss.connect("ses", func(form url.Values) {
			form.Set("region", "eu-central-1")
			form.Set("access_key_id", accountKeyID)
			form.Set("secret", accountSecret)
			form.Set("role_arn", accountRole)
			form.Set("topic_arn", accountTopic)
			// a forged field: the form on the page has no field "endpoint"
			form.Set("endpoint", "https://169.254.169.254")
		})
		c, err := connection(t, p)
		if err != nil || c.Secret != accountSecret || c.Endpoint != "" || c.MayReachPrivate || c.Region != "eu-central-1" {
			t.Fatalf("%v: the endpoint is %q", err, c.Endpoint)
		}
		boss.wants(page, "The connection is stored", "Amazon SES", accountKeyID, accountRole, c.ExternalID, accountTopic)
		if address := boss.mustFind(page, shownAddress); address != p.BaseURL+"/ingest/ses/"+c.IngestPath {
			t.Errorf("the address for events is %q", address)
		}
		again := boss.open(connectPage)
		boss.wants(again, c.ExternalID, "Leave the field empty to keep the stored one", `value="eu-central-1"`)
		boss.submit(again, connectPage, func(form url.Values) { form.Set("region", "eu-west-1") })
		if c, err := connection(t, p); err != nil || c.Secret != accountSecret || c.Region != "eu-west-1" || c.TopicARN != accountTopic {
			t.Errorf("after a change of the region: %v", err)
		}

		refusesBadConnections(t, p, boss)

		key := boss.mustFind(boss.submit(boss.open(accountPage+"/events-key"), accountPage+"/events-key", unchanged), shownEventsKey)
		page = boss.open(accountPage)
		boss.wants(page, "it was shown once")
		page = boss.submit(page, accountPage+"/template-version", func(form url.Values) { form.Set("template_version", "12") })
		boss.wants(page, "The version is recorded", `value="12"`, "13 is the newest")
		for _, wrong := range []string{"", "x", "99", "-1"} {
			form := boss.form(boss.open(accountPage), accountPage+"/template-version")
			form.Set("template_version", wrong)
			if status, _, _ := boss.send(accountPage+"/template-version", form); status != http.StatusUnprocessableEntity {
				t.Errorf("the version %q: %d", wrong, status)
			}
		}
		log := boss.open("/dashboard/audit")
		boss.wants(log, "Sending account connected", "Key for events created", "Version of the infrastructure template recorded")
		for _, shown := range []string{log, boss.open(accountPage), boss.open(connectPage), boss.open(accountPage + "/events-key"), boss.open(accountPage + "/disconnect")} {
			boss.lacks(shown, key, accountSecret, "s3cret")
		}

		boss.wants(boss.submit(boss.open(accountPage+"/disconnect"), accountPage+"/disconnect", unchanged), "is disconnected", "Connect a sending account")
		if _, err := connection(t, p); core.AsError(err) == nil || core.AsError(err).Code != core.CodeNotFound {
			t.Errorf("after disconnecting: %v", err)
		}
		for _, path := range []string{"/disconnect", "/events-key", "/verify", "/template-version"} {
			form := boss.proof(p.OrgID, accountPage+path)
			form.Set("template_version", "13")
			if status, _, _ := boss.send(accountPage+path, form); status != http.StatusConflict {
				t.Errorf("%s of nothing: %d", path, status)
			}
		}
	})
}

// refusesBadConnections posts the form of a connected account with one invalid field at a
// time. It checks that each form is refused, that the answer shows no secret, and that the
// audit log gets no entry.
func refusesBadConnections(t *testing.T, p *product.Product, boss *browser) {
	t.Helper()
	before := audited(t, p)
	for field, value := range map[string]string{
		"region": "nowhere", "access_key_id": "short", "role_arn": "admin", "topic_arn": "mine", "account_id": "12",
		"secret": strings.Repeat("x", 2000), "provider": "pigeon", "host": "a",
	} {
		form := boss.form(boss.open(connectPage), connectPage)
		form.Set(field, value)
		if field == "host" {
			form.Set("provider", "smtp")
			form.Set("port", "99999")
		}
		status, _, text := boss.send(connectPage, form)
		if status != http.StatusUnprocessableEntity && (field != "provider" || status != http.StatusNotFound) {
			t.Errorf("a bad %s: %d", field, status)
		}
		boss.lacks(text, accountSecret, strings.Repeat("x", 2000), "s3cret")
	}
	sameLines(t, before, audited(t, p))
}

// TestConnectingAServer checks the form for an SMTP server. A server with a private address
// can be stored, but the product must not dial it.
func TestConnectingAServer(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss := owner(t, p)
		page := boss.connect("smtp", func(form url.Values) {
			form.Set("host", privateMailHost)
			form.Set("port", "25")
			form.Set("access_key_id", "mailer")
			form.Set("secret", accountSecret)
			form.Set("identities", " example.com\r\nme@example.org\r\n")
			form.Set("max_24_hour_send", "2000")
			form.Set("max_send_rate", "5")
			// a forged field: the form on the page has no field "may_reach_private"
			form.Set("may_reach_private", "on")
		})
		boss.wants(page, "SMTP server", privateMailHost+":25", "example.com", "me@example.org", "0 of 2,000 messages")
		c, err := connection(t, p)
		if err != nil || c.MayReachPrivate || len(c.Identities) != 2 || c.Max24HourSend != 2000 || c.MaxSendRate != 5 {
			t.Fatalf("%v: %v, %d, %d", err, c.Identities, c.Max24HourSend, c.MaxSendRate)
		}
		boss.wants(boss.submit(page, accountPage+"/verify", unchanged), "failed", "cannot be reached", "operator of this installation has to allow servers")
		boss.wants(boss.open(connectPage), "me@example.org", `value="2000"`)
		if list, err := p.DB.Consent().ContactList(t.Context(), p.OrgID); err != nil || list.Name == "" {
			t.Errorf("beside the server there is %+v, %v", list, err)
		}
		form := boss.form(boss.open(connectPage), connectPage)
		form.Set("host", "elsewhere.example")
		if status, _, text := boss.send(connectPage, form); status != http.StatusUnprocessableEntity || !strings.Contains(text, "secret or password is missing") {
			t.Errorf("a password that would follow to another server: %d", status)
		}
		for field, value := range map[string]string{"max_send_rate": "many", "max_24_hour_send": "-1", "identities": "a b", "port": "0", "host": "a:1"} {
			form := boss.form(boss.open(connectPage), connectPage)
			form.Set(field, value)
			if status, _, _ := boss.send(connectPage, form); status != http.StatusUnprocessableEntity {
				t.Errorf("%s %q: %d", field, value, status)
			}
		}
		page = boss.connect("smtp", func(form url.Values) {
			form.Set("secret", accountSecret)
			form.Set("max_24_hour_send", "")
			form.Set("max_send_rate", "")
		})
		boss.wants(page, "0 messages; there is no daily limit", "no limit")
		page = boss.connect("simulator", unchanged)
		boss.wants(page, "Simulator")
		boss.wants(boss.submit(page, accountPage+"/verify", unchanged), "fine", "enabled")
	})
}

// TestWhoMayConnect checks that a member without the permission to manage the organization
// can neither see nor change its connection. It also checks that a form is refused without
// the token that its page contains.
func TestWhoMayConnect(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss := owner(t, p)
		boss.connect("ses", func(form url.Values) {
			form.Set("region", "eu-central-1")
			form.Set("access_key_id", accountKeyID)
			form.Set("secret", accountSecret)
		})
		kim := newBrowser(t, p)
		kim.signIn(person(t, p, "kim", members.PlainMember, members.MayViewAccount, members.MayViewSending, members.MayManageCredentials).Email, personPassword)
		kim.lacks(kim.open(accountPage), accountKeyID, "/ingest/ses/", "/account/verify", connectPage)
		kim.lacks(kim.open("/dashboard/channels"), "Sync now")
		before := audited(t, p)
		for path, needs := range map[string]members.Permission{
			connectPage: members.MayManageOrg, accountPage + "/verify": members.MayManageOrg, accountPage + "/template-version": members.MayManageOrg,
			accountPage + "/events-key": members.MayManageOrg, accountPage + "/disconnect": members.MayManageOrg, "/dashboard/channels/sync": members.MayTriggerSync,
		} {
			if status, _, text := kim.send(path, kim.proof(p.OrgID, path)); status != http.StatusForbidden || !strings.Contains(text, string(needs)) {
				t.Errorf("%s: %d", path, status)
			}
			if status, _, _ := boss.send(path, url.Values{}); status != http.StatusForbidden {
				t.Errorf("%s without the form's token: %d", path, status)
			}
		}
		sameLines(t, before, audited(t, p))
		if c, err := connection(t, p); err != nil || c.AccessKeyID != accountKeyID {
			t.Errorf("the connection was changed: %v", err)
		}
	})
}

func TestSecondFactorBeforeConnecting(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		boss := owner(t, p)
		boss.connect("simulator", unchanged)
		requireFactor(t, p, boss, people.ProofAge+time.Minute)
		before := audited(t, p)
		for _, path := range []string{connectPage, accountPage + "/events-key", accountPage + "/disconnect"} {
			form := boss.proof(p.OrgID, path)
			form.Set("provider", "simulator")
			for _, form := range []url.Values{nil, form} {
				status, location, _ := boss.send(path, form)
				if status != http.StatusSeeOther || !strings.HasSuffix(location, "?next="+url.QueryEscape(path)) {
					t.Errorf("%s: %d to %q", path, status, location)
				}
			}
		}
		sameLines(t, before, audited(t, p))
	})
}

// requireFactor makes the organization require a second factor, and gives the person a
// passkey. It dates the last second-factor check of the browser's session back by the
// duration in the parameter ago.
func requireFactor(t *testing.T, p *product.Product, b *browser, ago time.Duration) {
	t.Helper()
	ctx, now := t.Context(), p.Clock.Now()
	session, err := p.DB.Sessions().Session(ctx, access.HashSecret(b.secret()), now)
	if err != nil {
		t.Fatal(err)
	}
	org, err := p.DB.Orgs().Org(ctx, p.OrgID)
	if err != nil {
		t.Fatal(err)
	}
	org.RequireSecondFactor = true
	at := now.Add(-ago)
	session.SecondFactorAt = &at
	for _, err := range []error{
		p.DB.Orgs().SetOrgSettings(ctx, org), p.DB.Sessions().TouchSession(ctx, session),
		p.DB.Passkeys().InsertPasskey(ctx, people.Passkey{
			ID: core.NewID(), UserID: session.UserID, CredentialID: []byte("one"), Name: "Key", Credential: "{}", CreatedAt: now,
		}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}
