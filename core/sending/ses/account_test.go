package ses_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/ses"
)

func TestOverview(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]sending.Overview{
		`{"SendingEnabled":true,"ProductionAccessEnabled":true,"SendQuota":{"Max24HourSend":-1,"MaxSendRate":14.9,"SentLast24Hours":7},
			"Details":{"ReviewDetails":{"Status":"GRANTED","CaseId":"1"}}}`: {
			SendingEnabled: true, Max24HourSend: -1, MaxSendRate: 14, SentLast24Hours: 7, Review: sending.ReviewGranted,
		},
		`{"Details":{"ReviewDetails":{"Status":"PENDING"}}}`:   {Sandbox: true, Review: sending.ReviewPending},
		`{"Details":{"ReviewDetails":{"Status":"DENIED"}}}`:    {Sandbox: true, Review: sending.ReviewDenied},
		`{"Details":{"ReviewDetails":{"Status":"FAILED"}}}`:    {Sandbox: true, Review: sending.ReviewFailed},
		`{"Details":{"ReviewDetails":{"Status":"DREAMING"}}}`:  {Sandbox: true},
		`{"SendQuota":null,"Details":{"ReviewDetails":null}}`:  {Sandbox: true},
		`{"unheard":{"of":["things"]},"SendQuota":{"a":"b"} }`: {Sandbox: true},
	} {
		p := newProvider(t)
		p.handle(getAccount, respondWith(answer))
		want.AccountID, want.Region = "111122223333", "eu-central-1"
		got, err := open(t, config(p)).Overview(t.Context(), "org")
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s (%v) (-want +got):\n%s", answer, err, diff)
		}
	}
}

const identity = `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>
<Account>444455556666</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`

const role = `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials>
<AccessKeyId>ROLEKEY</AccessKeyId><SecretAccessKey>x</SecretAccessKey><SessionToken>y</SessionToken>
<Expiration>2999-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`

func TestAccountIDIsAskedForOnce(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.handle(getAccount, respondWith(`{}`))
	p.handle(askTokens, respondWith(identity))
	c := config(p)
	c.AccountID = ""
	a := open(t, c)
	for range 3 {
		if o, err := a.Overview(t.Context(), "org"); err != nil || o.AccountID != "444455556666" {
			t.Errorf("%+v, %v", o, err)
		}
	}
	if n := p.count(askTokens); n != 1 {
		t.Errorf("asked %d times", n)
	}
	p = newProvider(t)
	p.handle(getAccount, respondWith(`{}`))
	p.handle(askTokens, refuse(403, "AccessDenied"))
	c.HTTPClient = &http.Client{Transport: p}
	if o, err := open(t, c).Overview(t.Context(), "org"); err != nil || o.AccountID != "" {
		t.Errorf("without an id: %+v, %v", o, err)
	}
}

func TestRolesAreTakenOn(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.handle(getAccount, respondWith(`{}`))
	p.handle(askTokens, respondWith(role))
	shared := config(p)
	shared.Credentials = ses.Credentials{AccessKeyID: "OURKEY", Secret: "ours"}
	a, err := ses.Open(shared)(sending.Connection{
		Provider: sending.SES, AccountID: "1", Region: "eu-west-1", RoleARN: "arn:aws:iam::111122223333:role/mail", ExternalID: "outside",
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := a.Overview(t.Context(), "org"); err != nil {
			t.Fatal(err)
		}
	}
	calls := p.recordedCalls()
	if len(calls) != 3 || !strings.Contains(calls[0].authorization, "OURKEY/") || !strings.Contains(calls[1].authorization, "ROLEKEY/") {
		t.Errorf("asked %+v", calls)
	}
	for _, part := range []string{"Action=AssumeRole", "ExternalId=outside", "RoleSessionName=mailhelm", "role%2Fmail"} {
		if !strings.Contains(calls[0].body, part) {
			t.Errorf("%s is not in %s", part, calls[0].body)
		}
	}

	p.handle(askTokens, refuse(403, "AccessDenied"))
	a, err = ses.Open(shared)(sending.Connection{Region: "eu-west-1", RoleARN: "arn:aws:iam::111122223333:role/mail"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Overview(t.Context(), "org")
	wantFailure(t, "a role that we may not take on", err, sending.Refused)
	// The credentials of this installation may only be used to assume roles, not to call its
	// own AWS account.
	if _, err := ses.Open(shared)(sending.Connection{Region: "eu-west-1"}); err == nil {
		t.Error("a connection without credentials gets ours")
	}
}

func TestIdentities(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.handle("POST /v2/email/list-identities", answerInTurn(
		respondWith(`{"EmailIdentities":[{"IdentityName":"a.example","IdentityType":"DOMAIN","VerificationStatus":"SUCCESS"},
			{"IdentityName":"gone.example","IdentityType":"DOMAIN","VerificationStatus":"SUCCESS"}],"NextToken":"t"}`),
		respondWith(`{"EmailIdentities":[{"IdentityName":"b@b.example","IdentityType":"EMAIL_ADDRESS","VerificationStatus":"NOT_STARTED"},
			{"IdentityName":"c@c.example","IdentityType":"EMAIL_ADDRESS","VerificationStatus":"TEMPORARY_FAILURE"},
			{"IdentityName":"d@d.example","IdentityType":"EMAIL_ADDRESS","VerificationStatus":"FAILED"}]}`),
	))
	p.handle("GET /v2/email/identities/a.example", respondWith(`{"DkimAttributes":{"Tokens":["x","y","z"]},"ConfigurationSetName":"marketing"}`))
	p.handle("GET /v2/email/identities/b%40b.example", respondWith(`{"ConfigurationSetName":"receipts","DkimAttributes":{"Tokens":["of the domain"]}}`))
	for _, name := range []string{"c%40c.example", "d%40d.example"} {
		p.handle("GET /v2/email/identities/"+name, respondWith(`{}`))
	}
	p.handle("GET /v2/email/identities/gone.example", refuse(404, "NotFoundException"))
	got, err := open(t, config(p)).Identities(t.Context(), "org")
	want := []sending.Identity{
		{Identity: "a.example", Verification: sending.Success, DKIMTokens: []string{"x", "y", "z"}, ConfigurationSet: "marketing"},
		{Identity: "b@b.example", Verification: sending.Pending, ConfigurationSet: "receipts"},
		{Identity: "c@c.example", Verification: sending.Pending},
		{Identity: "d@d.example", Verification: sending.Failed},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestListingsEnd(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.handle("POST /v2/email/list-configuration-sets", respondWith(`{"ConfigurationSets":[],"NextToken":"more"}`))
	_, err := open(t, config(p)).ConfigurationSets(t.Context(), "org")
	wantFailure(t, "a listing without an end", err, sending.Refused)
}

// TestPutContactKeepsAttributes checks that PutContact keeps the customer's attributes of a
// contact, and writes nothing if the consent is unchanged.
func TestPutContactKeepsAttributes(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.handle(contactLists, respondWith(oneList))
	p.handle("GET "+contact, respondWith(`{"EmailAddress":"Ada@example.com","AttributesData":"{\"crm\":7}","TopicPreferences":[{"TopicName":"news","SubscriptionStatus":"OPT_IN"}]}`))
	p.handle("PUT "+contact, respondWith(`{}`))
	p.handle("PUT "+strings.Replace(contact, "ada", "Ada", 1), respondWith(`{}`))
	a := open(t, config(p))
	same := sending.Contact{Email: "ada@example.com", Preferences: map[string]sending.Subscription{"news": sending.OptIn}}
	if err := a.PutContact(t.Context(), "org", same); err != nil {
		t.Fatal(err)
	}
	if calls := p.recordedCalls(); calls[len(calls)-1].method != http.MethodGet {
		t.Errorf("the same consent was written: %+v", calls)
	}
	same.UnsubscribeAll = true
	if err := a.PutContact(t.Context(), "org", same); err != nil {
		t.Fatal(err)
	}
	calls := p.recordedCalls()
	if last := calls[len(calls)-1]; last.method != http.MethodPut || !strings.Contains(last.body, `crm`) || !strings.Contains(last.body, `"UnsubscribeAll":true`) {
		t.Errorf("wrote %+v", last)
	}
	if n := p.count(contactLists); n != 1 {
		t.Errorf("the list's name was read %d times", n)
	}
}

func TestTwentyTopicsAtMost(t *testing.T) {
	t.Parallel()
	choices := map[string]sending.Subscription{}
	for i := range 21 {
		choices[strings.Repeat("t", i+1)] = sending.OptIn
	}
	err := open(t, config(newProvider(t))).PutContact(t.Context(), "org", sending.Contact{Email: "ada@example.com", Preferences: choices})
	wantFailure(t, "21 topics", err, sending.Invalid)
}

// TestAddressIsSuppressedForTheReasonGiven checks that FindSuppressed and SuppressedPage
// report the same reason for an address. Only the response for a single address may also
// name the message that caused the entry.
func TestAddressIsSuppressedForTheReasonGiven(t *testing.T) {
	t.Parallel()
	const one, list = "GET /v2/email/suppression/addresses/ada%40example.com", "GET /v2/email/suppression/addresses"
	for answer, want := range map[string]sending.SuppressionReason{
		`"Reason":"BOUNCE","Attributes":{"MessageId":"1"}`:    sending.SuppressedByBounce,
		`"Reason":"COMPLAINT","Attributes":{"MessageId":"1"}`: sending.SuppressedByComplaint,
		`"Reason":"BOUNCE","Attributes":{}`:                   sending.SuppressedByBounce,
		`"Reason":"COMPLAINT"`:                                sending.SuppressedByComplaint,
		`"Reason":"WHIM"`:                                     sending.SuppressedByHand,
		`"LastUpdateTime":1`:                                  sending.SuppressedByHand,
	} {
		p := newProvider(t)
		summary, _, _ := strings.Cut(answer, `,"Attributes"`)
		p.handle(one, respondWith(`{"SuppressedDestination":{"EmailAddress":"ada@example.com",`+answer+`}}`))
		p.handle(list, respondWith(`{"SuppressedDestinationSummaries":[{"EmailAddress":"ada@example.com",`+summary+`}]}`))
		a := open(t, config(p))
		if got, err := a.FindSuppressed(t.Context(), "org", "ada@example.com"); err != nil || got.Reason != want {
			t.Errorf("%s: %s, %v, want %s", answer, got.Reason, err, want)
		}
		page, _, err := a.SuppressedPage(t.Context(), "org", time.Time{}, time.Time{}, "")
		if err != nil || len(page) != 1 || page[0].Reason != want {
			t.Errorf("%s in a page: %+v, %v, want %s", summary, page, err, want)
		}
	}
	p := newProvider(t)
	p.handle(one, respondWith(`{}`))
	_, err := open(t, config(p)).FindSuppressed(t.Context(), "org", "ada@example.com")
	wantFailure(t, "an answer without the entry", err, sending.Refused)
}
