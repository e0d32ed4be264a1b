package wire_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/sending/wire"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sending/simulator/simulatortest"
)

// caller sends requests to the imitated API of Amazon SES without an SDK. The tests contain
// the JSON of requests and responses. So they find a wrong member name even if this package
// and the SES adapter both use it.
type caller struct {
	*simulator.Simulator
	t    *testing.T
	http *http.Client
	key  string
}

func start(t *testing.T) *caller {
	t.Helper()
	now := time.Date(2026, 3, 4, 5, 6, 7, 8_000_000, time.UTC)
	s := simulatortest.Open(t, simulator.Options{Clock: func() time.Time { return now }})
	err := s.Seed(t.Context(), "org", simulator.Setup{
		Account: &sending.Overview{AccountID: "123456789012", SendingEnabled: true, Sandbox: true, Max24HourSend: 6, MaxSendRate: 14},
		Identities: []sending.Identity{
			{Identity: "example.com", Verification: sending.Success},
			{Identity: "ann@example.org", Verification: sending.Pending},
			{Identity: "b.example", Verification: sending.Failed},
		},
		ConfigurationSets: []sending.ConfigurationSet{
			{Name: "marketing", TrackingDomain: "click.example.com", SuppressionPolicy: []string{"BOUNCE"}}, {Name: "plain"},
		},
		List: &sending.ContactList{Name: "people", Description: "All", Topics: []sending.Topic{
			{Name: "news", DisplayName: "News", Default: sending.OptIn}, {Name: "offers", DisplayName: "Offers", Default: sending.OptOut},
		}},
		Contacts: []sending.Contact{
			{Email: "a/b%@example.com", Preferences: map[string]sending.Subscription{"news": sending.OptOut}},
			{Email: "ben@example.com"},
		},
		Suppressed: []sending.Suppressed{
			{Email: "x@example.com", Reason: sending.SuppressedByBounce, At: time.Unix(1_700_000_000, 0)},
			{Email: "y@example.com", Reason: sending.SuppressedByComplaint, At: time.Unix(1_710_000_000, 0)},
		},
		Templates: []sending.Template{{Name: "welcome", Subject: "Hello {{name}}", Text: "Hi {{name}}", HTML: "<p>"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	config := wire.Config{Account: s, OrgID: "org", AccessKeyID: "AKID"}
	return &caller{s, t, &http.Client{Transport: wire.Transport(config)}, "AKID"}
}

func (c *caller) ask(method, path, body string) (int, string, http.Header) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "https://email.eu-west-1.amazonaws.com/v2/email/"+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	if c.key != "" {
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+c.key+"/20260304/eu-west-1/ses/aws4_request, SignedHeaders=host, Signature=00")
	}
	answer, err := c.http.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer.StatusCode, strings.TrimSpace(string(text)), answer.Header
}

// want compares a whole response.
func (c *caller) want(method, path, body string, status int, text string) {
	c.t.Helper()
	gotStatus, got, _ := c.ask(method, path, body)
	if gotStatus != status || got != text {
		c.t.Errorf("%s %s answers\n%d %s, want\n%d %s", method, path, gotStatus, got, status, text)
	}
}

func (c *caller) refused(method, path, body string, status int, name string) {
	c.t.Helper()
	gotStatus, text, header := c.ask(method, path, body)
	var got struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || gotStatus != status || got.Type != name || header.Get("X-Amzn-Errortype") != name || got.Message == "" {
		c.t.Errorf("%s %s with %.60q is refused with %d %s, want %d %s", method, path, body, gotStatus, text, status, name)
	}
}

func TestAccountOnTheWire(t *testing.T) {
	t.Parallel()
	c := start(t)
	account := func(details string) string {
		return `{"DedicatedIpAutoWarmupEnabled":false,` + details + `"EnforcementStatus":"HEALTHY","ProductionAccessEnabled":false,` +
			`"SendQuota":{"Max24HourSend":6,"MaxSendRate":14,"SentLast24Hours":0},"SendingEnabled":true,"SuppressionAttributes":{"SuppressedReasons":["BOUNCE","COMPLAINT"]}}`
	}
	c.want("GET", "account", "", 200, account(""))
	const request = `{"MailType":"MARKETING","WebsiteURL":"https://example.com","UseCaseDescription":"News","ProductionAccessEnabled":true}`
	c.refused("POST", "account/details", `{}`, 400, "BadRequestException")
	c.refused("POST", "account/details", strings.Replace(request, "MARKETING", "SPAM", 1), 400, "BadRequestException")
	c.want("POST", "account/details", request, 200, `{}`)
	c.refused("POST", "account/details", request, 409, "ConflictException")
	c.want("GET", "account", "", 200, account(`"Details":{"MailType":"MARKETING","ReviewDetails":{"CaseId":"1","Status":"PENDING"},"UseCaseDescription":"News","WebsiteURL":"https://example.com"},`))
}

func TestIdentitiesAndSetsOnTheWire(t *testing.T) {
	t.Parallel()
	c := start(t)
	const ann = `{"IdentityName":"ann@example.org","IdentityType":"EMAIL_ADDRESS","SendingEnabled":true,"VerificationStatus":"PENDING"}`
	const b = `{"IdentityName":"b.example","IdentityType":"DOMAIN","SendingEnabled":true,"VerificationStatus":"FAILED"}`
	const com = `{"IdentityName":"example.com","IdentityType":"DOMAIN","SendingEnabled":true,"VerificationStatus":"SUCCESS"}`
	c.want("POST", "list-identities", `{"PageSize":2}`, 200, `{"EmailIdentities":[`+ann+`,`+b+`],"NextToken":"Yi5leGFtcGxl"}`)
	c.want("POST", "list-identities", `{"PageSize":2,"NextToken":"Yi5leGFtcGxl"}`, 200, `{"EmailIdentities":[`+com+`]}`)
	c.want("GET", "identities?PageSize=3", "", 200, `{"EmailIdentities":[`+ann+`,`+b+`,`+com+`]}`)
	c.refused("POST", "list-identities", `{"NextToken":"!"}`, 400, "InvalidNextTokenException")
	c.refused("GET", "identities?PageSize=x", ``, 400, "BadRequestException")
	status, text, _ := c.ask("GET", "identities/example.com", "")
	var identity struct {
		DkimAttributes struct {
			Status string
			Tokens []string
		}
		VerificationStatus       string
		VerifiedForSendingStatus bool
	}
	if err := json.Unmarshal([]byte(text), &identity); err != nil || status != 200 || len(identity.DkimAttributes.Tokens) != 3 || identity.VerificationStatus != "SUCCESS" || !identity.VerifiedForSendingStatus {
		t.Errorf("the identity is %d %s", status, text)
	}
	c.refused("GET", "identities/other.example", "", 404, "NotFoundException")
	c.want("POST", "list-configuration-sets", `{}`, 200, `{"ConfigurationSets":["marketing","plain"]}`)
	c.want("GET", "configuration-sets", ``, 200, `{"ConfigurationSets":["marketing","plain"]}`)
	c.want("GET", "configuration-sets/marketing", "", 200, `{"ConfigurationSetName":"marketing","SendingOptions":{"SendingEnabled":true},"SuppressionOptions":{"SuppressedReasons":["BOUNCE"]},"TrackingOptions":{"CustomRedirectDomain":"click.example.com"}}`)
	c.want("GET", "configuration-sets/plain", "", 200, `{"ConfigurationSetName":"plain","SendingOptions":{"SendingEnabled":true},"SuppressionOptions":{"SuppressedReasons":[]}}`)
	c.refused("GET", "configuration-sets/other", "", 404, "NotFoundException")
}

func TestContactsOnTheWire(t *testing.T) {
	t.Parallel()
	c := start(t)
	const stamp = `1772600767.008`
	first := `"EmailAddress":"a/b%@example.com","LastUpdatedTimestamp":` + stamp + `,"TopicDefaultPreferences":[{"TopicName":"offers","SubscriptionStatus":"OPT_OUT"}],"TopicPreferences":[{"TopicName":"news","SubscriptionStatus":"OPT_OUT"}],"UnsubscribeAll":false}`
	path := "contact-lists/people/contacts/" + url.PathEscape("a/b%@example.com")
	c.want("GET", "contact-lists", "", 200, `{"ContactLists":[{"ContactListName":"people","LastUpdatedTimestamp":`+stamp+`}]}`)
	c.want("GET", path, "", 200, `{"ContactListName":"people","CreatedTimestamp":`+stamp+`,`+first)
	status, text, _ := c.ask("POST", "contact-lists/people/contacts/list", `{"PageSize":1}`)
	var page struct{ NextToken string }
	if err := json.Unmarshal([]byte(text), &page); err != nil || status != 200 || page.NextToken == "" || !strings.HasPrefix(text, `{"Contacts":[{`+first) {
		t.Errorf("the first page is %d %s", status, text)
	}
	status, text, _ = c.ask("POST", "contact-lists/people/contacts/list", `{"NextToken":"`+page.NextToken+`"}`)
	if status != 200 || strings.Contains(text, "NextToken") || !strings.Contains(text, "ben@example.com") {
		t.Errorf("the last page is %d %s", status, text)
	}
	c.want("PUT", path, `{"UnsubscribeAll":true,"TopicPreferences":[{"TopicName":"offers","SubscriptionStatus":"OPT_IN"}]}`, 200, `{}`)
	if got, err := c.Contact(t.Context(), "org", "a/b%@example.com"); err != nil || !got.UnsubscribeAll || len(got.Preferences) != 1 || got.Preferences["offers"] != sending.OptIn {
		t.Errorf("after an update, the contact is %+v, %v", got, err)
	}
	c.want("PUT", path, `{"AttributesData":"{\"age\":7}"}`, 200, `{}`)
	if _, text, _ := c.ask("GET", path, ""); !strings.HasPrefix(text, `{"AttributesData":"{\"age\":7}",`) {
		t.Errorf("with attributes, the contact is %s", text)
	}
	c.want("PUT", path, `{"TopicPreferences":[{"TopicName":"offers","SubscriptionStatus":"OPT_IN"}]}`, 200, `{}`)
	if _, text, _ := c.ask("GET", path, ""); strings.Contains(text, "AttributesData") {
		t.Errorf("attributes that were not given again are still there: %s", text)
	}
	c.refused("PUT", "contact-lists/people/contacts/new@example.com", `{}`, 404, "NotFoundException")
	c.want("POST", "contact-lists/people/contacts", `{"EmailAddress":"new@example.com"}`, 200, `{}`)
	c.refused("POST", "contact-lists/people/contacts", `{"EmailAddress":"NEW@example.com"}`, 400, "AlreadyExistsException")
	c.refused("POST", "contact-lists/people/contacts", `{"EmailAddress":"nobody"}`, 400, "BadRequestException")
	c.refused("POST", "contact-lists/people/contacts", `{"EmailAddress":"z@example.com","TopicPreferences":[{"TopicName":"other","SubscriptionStatus":"OPT_IN"}]}`, 400, "BadRequestException")
	c.refused("POST", "contact-lists/other/contacts", `{"EmailAddress":"z@example.com"}`, 404, "NotFoundException")
	c.refused("POST", "contact-lists/people/contacts/list", `{"Filter":{"FilteredStatus":"OPT_IN"}}`, 400, "BadRequestException")
	c.want("DELETE", "contact-lists/people/contacts/new@example.com", "", 200, `{}`)
	c.refused("DELETE", "contact-lists/people/contacts/new@example.com", "", 404, "NotFoundException")

	c.want("PUT", "contact-lists/people", `{"Description":"Some","Topics":[{"TopicName":"news","DisplayName":"Daily","DefaultSubscriptionStatus":"OPT_IN"}]}`, 200, `{}`)
	c.want("GET", "contact-lists/people", "", 200, `{"ContactListName":"people","CreatedTimestamp":`+stamp+`,"Description":"Some","LastUpdatedTimestamp":`+stamp+
		`,"Topics":[{"TopicName":"news","DisplayName":"Daily","Description":"","DefaultSubscriptionStatus":"OPT_IN"}]}`)
	if got, err := c.Contact(t.Context(), "org", "a/b%@example.com"); err != nil || len(got.Preferences) != 0 {
		t.Errorf("a choice about a topic that is gone is still there: %+v, %v", got, err)
	}
	c.refused("PUT", "contact-lists/people", `{"Topics":[`+strings.Repeat(`{},`, 20)+`{}]}`, 400, "BadRequestException")
	c.refused("PUT", "contact-lists/people", `{"Topics":[{"TopicName":"a b"}]}`, 400, "BadRequestException")
}

func TestListsOnTheWire(t *testing.T) {
	t.Parallel()
	c := start(t)
	const x = `{"EmailAddress":"x@example.com","LastUpdateTime":1700000000,"Reason":"BOUNCE"}`
	const y = `{"EmailAddress":"y@example.com","LastUpdateTime":1710000000,"Reason":"COMPLAINT"}`
	all := func(list string) string { return `{"SuppressedDestinationSummaries":[` + list + `]}` }
	c.want("GET", "suppression/addresses", "", 200, all(x+","+y))
	c.want("GET", "suppression/addresses?Reason=COMPLAINT", "", 200, all(y))
	c.want("GET", "suppression/addresses?StartDate=2024-01-01T00%3A00%3A00Z", "", 200, all(y))
	c.want("GET", "suppression/addresses?EndDate=2024-01-01T00%3A00%3A00Z", "", 200, all(x))
	c.refused("GET", "suppression/addresses?EndDate=yesterday", "", 400, "BadRequestException")
	c.want("GET", "suppression/addresses/X%40example.com", "", 200, `{"SuppressedDestination":`+x+`}`)
	c.refused("GET", "suppression/addresses/z@example.com", "", 404, "NotFoundException")

	c.want("GET", "templates?PageSize=5", "", 200, `{"TemplatesMetadata":[{"CreatedTimestamp":1772600767.008,"TemplateName":"welcome"}]}`)
	c.want("GET", "templates/welcome", "", 200, `{"TemplateName":"welcome","TemplateContent":{"Subject":"Hello {{name}}","Text":"Hi {{name}}","Html":"\u003cp\u003e"}}`)
	c.refused("POST", "templates", `{"TemplateName":"welcome","TemplateContent":{"Subject":"x"}}`, 400, "AlreadyExistsException")
	c.want("POST", "templates", `{"TemplateName":"second","TemplateContent":{"Subject":"x","Html":"<b>"}}`, 200, `{}`)
	c.want("PUT", "templates/second", `{"TemplateContent":{"Subject":"y"}}`, 200, `{}`)
	c.want("GET", "templates/second", "", 200, `{"TemplateName":"second","TemplateContent":{"Subject":"y"}}`)
	c.want("DELETE", "templates/second", "", 200, `{}`)
	for _, method := range []string{"GET", "PUT", "DELETE"} {
		c.refused(method, "templates/second", `{"TemplateContent":{"Subject":"y"}}`, 404, "NotFoundException")
	}
	c.refused("POST", "templates/welcome/render", `{"TemplateData":"{}"}`, 400, "BadRequestException")
	status, text, _ := c.ask("POST", "templates/welcome/render", `{"TemplateData":"{\"name\":\"Ann\"}"}`)
	if status != 200 || !strings.Contains(text, "Subject: Hello Ann") || !strings.Contains(text, "Hi Ann") {
		t.Errorf("rendered, the template is %d %s", status, text)
	}
}

const simple = `{"FromEmailAddress":"Shop <shop@example.com>","ConfigurationSetName":"marketing","Destination":{"ToAddresses":["success@simulator.amazonses.com"]},` +
	`"EmailTags":[{"Name":"mailhelm_test","Value":"true"}],"Content":{"Simple":{"Subject":{"Data":"Hello"},"Body":{"Html":{"Data":"<p>Hello"}},"Headers":[{"Name":"X-Order","Value":"7"}]}}}`

func TestSendingOnTheWire(t *testing.T) {
	t.Parallel()
	c := start(t)
	replaced := func(old, with string) string { return strings.Replace(simple, old, with, 1) }
	status, text, _ := c.ask("POST", "outbound-emails", simple)
	if status != 200 || !strings.HasPrefix(text, `{"MessageId":"0100`) {
		t.Errorf("sending answers %d %s", status, text)
	}
	events, err := c.Outbox().Due(t.Context(), "org", time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), 10)
	if err != nil || len(events) != 2 || !strings.Contains(string(events[0].JSON), `"mailhelm_test":["true"]`) || !strings.Contains(string(events[0].JSON), `"X-Order"`) {
		t.Errorf("the events are %v, %v", events, err)
	}
	c.refused("POST", "outbound-emails", replaced("success@simulator.amazonses.com", "ben@example.net"), 400, "MessageRejected")
	c.refused("POST", "outbound-emails", replaced("shop@example.com", "shop@example.net"), 400, "MessageRejected")
	c.refused("POST", "outbound-emails", replaced("marketing", "other"), 404, "NotFoundException")
	c.refused("POST", "outbound-emails", replaced(`"Simple":`, `"Raw":`), 400, "BadRequestException")
	c.refused("POST", "outbound-emails", replaced("success@simulator.amazonses.com", "nobody"), 400, "BadRequestException")

	const bulk = `{"FromEmailAddress":"shop@example.com","DefaultContent":{"Template":{"TemplateName":"welcome","TemplateData":"{\"name\":\"you\"}"}},"BulkEmailEntries":[` +
		`{"Destination":{"ToAddresses":["success+1@simulator.amazonses.com"]},"ReplacementEmailContent":{"ReplacementTemplate":{"ReplacementTemplateData":"{}"}}},` +
		`{"Destination":{"ToAddresses":["ben@example.net"]}},{"Destination":{"ToAddresses":["nobody"]}}]}`
	status, text, _ = c.ask("POST", "outbound-bulk-emails", bulk)
	var got struct {
		BulkEmailEntryResults []struct{ Status, MessageID, Error string }
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || status != 200 || len(got.BulkEmailEntryResults) != 3 {
		t.Fatalf("the bulk answers %d %s", status, text)
	}
	for i, want := range []string{"SUCCESS", "MESSAGE_REJECTED", "INVALID_PARAMETER"} {
		if r := got.BulkEmailEntryResults[i]; r.Status != want || (r.MessageID != "") != (i == 0) || (r.Error != "") == (i == 0) {
			t.Errorf("entry %d ends as %+v, want %s", i, r, want)
		}
	}
	c.refused("POST", "outbound-bulk-emails", strings.Replace(bulk, "welcome", "other", 1), 404, "NotFoundException")
	for range 4 {
		c.ask("POST", "outbound-emails", simple)
	}
	c.refused("POST", "outbound-emails", simple, 429, "TooManyRequestsException")
	_, text, _ = c.ask("POST", "outbound-bulk-emails", bulk)
	if !strings.Contains(text, "ACCOUNT_DAILY_QUOTA_EXCEEDED") {
		t.Errorf("over the quota, the bulk answers %s", text)
	}
}

func TestFailuresOnTheWire(t *testing.T) {
	t.Parallel()
	c := start(t)
	for _, test := range []struct {
		fault  simulator.Fault
		status int
		name   string
	}{
		{simulator.Fault{Kind: sending.Throttled, RetryAfter: 1500 * time.Millisecond}, 429, "TooManyRequestsException"},
		{simulator.Fault{Kind: sending.Refused}, 403, "UnrecognizedClientException"},
		{simulator.Fault{Kind: sending.Invalid}, 400, "BadRequestException"},
		{simulator.Fault{Kind: sending.Rejected}, 400, "MessageRejected"},
	} {
		c.Faults().Set(test.fault)
		c.refused("POST", "outbound-emails", simple, test.status, test.name)
		if _, _, header := c.ask("POST", "outbound-emails", simple); (header.Get("Retry-After") == "2") != (test.status == 429) {
			t.Errorf("%s says to come again in %q seconds", test.name, header.Get("Retry-After"))
		}
	}
	c.Faults().Set(simulator.Fault{Kind: sending.TimedOut, TookEffect: true})
	c.refused("POST", "outbound-emails", simple, 504, "GatewayTimeout")
	c.Faults().Clear()
	if events, err := c.Outbox().Due(t.Context(), "org", time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC), 10); err != nil || len(events) != 2 {
		t.Errorf("the message whose answer was lost has %d events, %v", len(events), err)
	}
	c.refused("GET", "dedicated-ips", "", 404, "UnknownOperationException")
	c.refused("DELETE", "account", "", 404, "UnknownOperationException")
	for _, body := range []string{"", "null", "[]", "{", "\x00", `{"Destination":7}`, `"` + strings.Repeat("x", 1000) + `"`} {
		c.refused("POST", "outbound-emails", body, 400, "SerializationException")
	}
	c.key = "OTHER"
	c.refused("GET", "account", "", 403, "UnrecognizedClientException")
	c.key = ""
	c.refused("GET", "account", "", 403, "MissingAuthenticationTokenException")
}

// TestTopicsOnTheWire checks the limit of 20 topics of Amazon SES. The simulator allows
// more.
func TestTopicsOnTheWire(t *testing.T) {
	t.Parallel()
	c := start(t)
	topics := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = fmt.Sprintf(`{"TopicName":"topic-%d","DisplayName":"Topic","DefaultSubscriptionStatus":"OPT_IN"}`, i)
		}
		return `{"Topics":[` + strings.Join(all, ",") + `]}`
	}
	c.refused("PUT", "contact-lists/people", topics(21), 400, "BadRequestException")
	c.want("PUT", "contact-lists/people", topics(20), 200, `{}`)
}
