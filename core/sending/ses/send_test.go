package ses_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/sending"
)

func message() sending.Message {
	return sending.Message{
		Envelope: sending.Envelope{
			From: "Größe <news@example.com>", ReplyTo: []string{"help@example.com"}, ConfigurationSet: "marketing",
			Tags: map[string]string{"broadcast": "b-1"}, Headers: []sending.Header{{Name: "List-Unsubscribe", Value: "<https://x.example>"}}, Test: true,
		},
		To:      []string{"ada@example.com"},
		Content: sending.Content{Subject: "Grüße", Text: "text"},
	}
}

func bulk(n int) sending.Bulk {
	b := sending.Bulk{Envelope: sending.Envelope{From: "news@example.com", Tags: map[string]string{"all": "1"}}, Template: "welcome"}
	for i := range n {
		b.Recipients = append(b.Recipients, sending.BulkRecipient{To: fmt.Sprintf("p%d@example.com", i)})
	}
	return b
}

// wantBody compares a request's JSON.
func wantBody(t *testing.T, p *provider, want string) {
	t.Helper()
	calls := p.recordedCalls()
	var got, wanted any
	if err := json.Unmarshal([]byte(calls[len(calls)-1].body), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("request (-want +got):\n%s", diff)
	}
}

func TestSend(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.handle(getAccount, respondWith(`{}`))
	p.handle(sendEmail, respondWith(`{"MessageId":"m-1"}`))
	a := open(t, config(p))
	if id, err := a.Send(t.Context(), "org", message()); err != nil || id != "m-1" {
		t.Errorf("%q, %v", id, err)
	}
	wantBody(t, p, `{"FromEmailAddress":"=?utf-8?q?Gr=C3=B6=C3=9Fe?= <news@example.com>","ReplyToAddresses":["help@example.com"],
		"ConfigurationSetName":"marketing","Destination":{"ToAddresses":["ada@example.com"]},
		"EmailTags":[{"Name":"broadcast","Value":"b-1"},{"Name":"mailhelm_test","Value":"true"}],
		"Content":{"Simple":{"Subject":{"Data":"Grüße","Charset":"UTF-8"},"Body":{"Text":{"Data":"text","Charset":"UTF-8"}},
			"Headers":[{"Name":"List-Unsubscribe","Value":"<https://x.example>"}]}}}`)

	templated := message()
	templated.Envelope = sending.Envelope{From: "news@example.com"}
	templated.Content = sending.Content{Template: "welcome"}
	if _, err := a.Send(t.Context(), "org", templated); err != nil {
		t.Error(err)
	}
	wantBody(t, p, `{"FromEmailAddress":"<news@example.com>","Destination":{"ToAddresses":["ada@example.com"]},
		"EmailTags":[{"Name":"mailhelm_template","Value":"welcome"}],
		"Content":{"Template":{"TemplateName":"welcome","TemplateData":"{}","Headers":[]}}}`)

	for name, spoil := range map[string]func(*sending.Message){
		"no sender":       func(m *sending.Message) { m.From = "" },
		"a bad sender":    func(m *sending.Message) { m.From = "a@example.com\r\nBcc: b@example.com" },
		"two senders":     func(m *sending.Message) { m.From = "a@example.com, b@example.com" },
		"no recipient":    func(m *sending.Message) { m.To = nil },
		"invalid UTF-8":   func(m *sending.Message) { m.From = "\xff@example.com" },
		"NUL in the from": func(m *sending.Message) { m.From = "a\x00@example.com" },
	} {
		bad := message()
		spoil(&bad)
		_, err := a.Send(t.Context(), "org", bad)
		wantFailure(t, name, err, sending.Invalid)
	}
	if n := p.count(sendEmail); n != 2 {
		t.Errorf("handed over %d times", n)
	}
}

func TestSendBulk(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.handle(getAccount, respondWith(`{}`))
	var results []string
	want := []sending.FailureKind{"", sending.Rejected, sending.Rejected, sending.Rejected, sending.Rejected, sending.Throttled, sending.Throttled, sending.Throttled, sending.Invalid, sending.Rejected, sending.Rejected}
	for _, status := range strings.Fields("SUCCESS MESSAGE_REJECTED ACCOUNT_SENDING_PAUSED TEMPLATE_NOT_FOUND CONFIGURATION_SET_NOT_FOUND " +
		"ACCOUNT_THROTTLED ACCOUNT_DAILY_QUOTA_EXCEEDED TRANSIENT_FAILURE INVALID_PARAMETER FAILED UNHEARD_OF") {
		results = append(results, fmt.Sprintf(`{"Status":%q,"MessageId":"m","Error":%q}`, status, hidden))
	}
	p.handle(sendBulk, respondWith(`{"BulkEmailEntryResults":[`+strings.Join(results, ",")+`]}`))
	a := open(t, config(p))
	b := bulk(len(want))
	b.Recipients[1].Tags, b.Recipients[1].Data = map[string]string{"own": "2", "all": "3"}, `{"name":"Ada"}`
	outcomes, err := a.SendBulk(t.Context(), "org", b)
	if err != nil || len(outcomes) != len(want) {
		t.Fatalf("%v, %v", outcomes, err)
	}
	for i, kind := range want {
		if kind == "" {
			if outcomes[i].MessageID != "m" || outcomes[i].Failure != nil {
				t.Errorf("outcome %d: %+v", i, outcomes[i])
			}
			continue
		}
		wantFailure(t, fmt.Sprint("outcome ", i), outcomes[i].Failure, kind)
	}
	calls := p.recordedCalls()
	if body := calls[len(calls)-1].body; !strings.Contains(body, `{"Name":"all","Value":"3"},{"Name":"mailhelm_template","Value":"welcome"},{"Name":"own","Value":"2"}`) {
		t.Errorf("a recipient's own tags came without the others: %s", body)
	}
	_, err = a.SendBulk(t.Context(), "org", bulk(3))
	wantFailure(t, "results for others", err, sending.TimedOut)
	for _, n := range []int{0, 51} {
		_, err = a.SendBulk(t.Context(), "org", bulk(n))
		wantFailure(t, fmt.Sprint(n, " recipients"), err, sending.Invalid)
	}
}

// TestSendingIsPaced checks that Send and SendBulk keep the account's send rate. A message
// that would have to wait beyond the deadline fails with Throttled, without an API call.
func TestSendingIsPaced(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.handle(getAccount, respondWith(`{"SendQuota":{"MaxSendRate":1}}`))
	p.handle(sendEmail, respondWith(`{"MessageId":"m"}`))
	p.handle(sendBulk, respondWith(`{"BulkEmailEntryResults":[{"Status":"SUCCESS","MessageId":"m"}]}`))
	c := config(p)
	c.CallTimeout = 200 * time.Millisecond
	a := open(t, c)
	if _, err := a.Send(t.Context(), "org", message()); err != nil {
		t.Fatal(err)
	}
	_, err := a.Send(t.Context(), "org", message())
	wantFailure(t, "a second message in the same second", err, sending.Throttled)
	if wait := retryAfter(err); wait <= 0 || wait > time.Second {
		t.Errorf("to be repeated after %v", wait)
	}
	_, err = a.SendBulk(t.Context(), "org", bulk(1))
	wantFailure(t, "a bulk in the same second", err, sending.Throttled)
	if sends, rates := p.count(sendEmail)+p.count(sendBulk), p.count(getAccount); sends != 1 || rates != 1 {
		t.Errorf("%d messages, the rate read %d times; want one of each", sends, rates)
	}
	p.handle(getAccount, respondWith(`{"SendQuota":{"MaxSendRate":1000}}`))
	if _, err := a.Overview(t.Context(), "org"); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := a.Send(t.Context(), "org", message()); err != nil {
			t.Fatal(err)
		}
		if _, err := a.SendBulk(t.Context(), "org", bulk(1)); err != nil {
			t.Fatal(err)
		}
	}
}
