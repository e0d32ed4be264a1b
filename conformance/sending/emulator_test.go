package sending_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	conformance "github.com/mailhelm/mailhelm/conformance/sending"
	"github.com/mailhelm/mailhelm/conformance/sending/emulator"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/ses"
)

const emulatedAccount = `{"DedicatedIpAutoWarmupEnabled":false,"EnforcementStatus":"HEALTHY","ProductionAccessEnabled":true,"SendingEnabled":true,
	"Details":{"AdditionalContactEmailAddresses":[],"ContactLanguage":"EN","MailType":"MARKETING","UseCaseDescription":"x","WebsiteURL":"https://example.com",
		"ReviewDetails":{"CaseId":"1","Status":"GRANTED"}},
	"SendQuota":{"Max24HourSend":-1,"MaxSendRate":100,"SentLast24Hours":7},"SuppressionAttributes":{"SuppressedReasons":["BOUNCE"]}}`

// TestSESAgainstAnIndependentEmulator runs the SES adapter over HTTP against an emulator of
// Amazon SES by another project. It tests the operations that the emulator has.
func TestSESAgainstAnIndependentEmulator(t *testing.T) {
	t.Parallel()
	e := emulator.Start(t, emulatedAccount)
	account, err := ses.New(ses.Config{
		AccountID: "111122223333", Region: "eu-central-1", Endpoint: e.URL,
		Credentials: ses.Credentials{AccessKeyID: "AKIDEXAMPLE", Secret: "secret"},
	})
	if err != nil {
		t.Fatal(err)
	}
	overview, err := account.Overview(t.Context(), "org")
	if diff := cmp.Diff(sending.Overview{
		AccountID: "111122223333", Region: "eu-central-1", SendingEnabled: true,
		Max24HourSend: -1, MaxSendRate: 100, SentLast24Hours: 7, Review: sending.ReviewGranted,
	}, overview); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	conformance.Templates(t, account)
	emulatedMessages(t, e, account)
}

func emulatedMessages(t *testing.T, e emulator.Emulator, account sending.Account) {
	t.Helper()
	envelope := sending.Envelope{
		From: "Größe <news@example.com>", ReplyTo: []string{"help@example.com"}, Tags: map[string]string{"campaign": "spring"},
		Headers: []sending.Header{{Name: "X-Campaign", Value: "spring"}},
	}
	template := sending.Template{Name: "hello", Subject: "Hello {{name}}", Text: "Grüße, {{name}}"}
	if err := account.PutTemplate(t.Context(), "org", template); err != nil {
		t.Fatal(err)
	}
	plain, err := account.Send(t.Context(), "org", sending.Message{
		Envelope: envelope, To: []string{"ada@example.org"}, CC: []string{"bob@example.org"}, BCC: []string{"eve@example.org"},
		Content: sending.Content{Subject: "Grüße", Text: "text", HTML: "<p>text</p>"},
	})
	if err != nil {
		t.Fatal(err)
	}
	rendered, err := account.Send(t.Context(), "org", sending.Message{
		Envelope: envelope, To: []string{"carol@example.org"}, Content: sending.Content{Template: "hello", TemplateData: `{"name":"Carol"}`},
	})
	if err != nil {
		t.Fatal(err)
	}
	outcomes, err := account.SendBulk(t.Context(), "org", sending.Bulk{
		Envelope: envelope, Template: "hello", DefaultData: `{"name":"you"}`, Recipients: []sending.BulkRecipient{
			{To: "dan@example.org", Data: `{"name":"Dan"}`, Tags: map[string]string{"row": "1"}}, {To: "nobody"}, {To: "fay@example.org"},
		},
	})
	if err != nil || len(outcomes) != 3 || outcomes[1].Failure == nil || outcomes[0].MessageID == "" || outcomes[2].MessageID == "" {
		t.Fatalf("%+v, %v", outcomes, err)
	}
	inline, err := account.SendBulk(t.Context(), "org", sending.Bulk{
		Envelope: envelope, Inline: sending.InlineTemplate{Subject: "Inline {{name}}", HTML: "<p>{{part0}} & {{part1}}</p>"}, Recipients: []sending.BulkRecipient{
			{To: "gus@example.org", Data: `{"name":"Gus","part0":"<b>\"Gus\"</b>","part1":""}`, Headers: []sending.Header{{Name: "List-Unsubscribe", Value: "<https://example.com/u>"}}},
		},
	})
	if err != nil || len(inline) != 1 || inline[0].Failure != nil {
		t.Fatalf("%+v, %v", inline, err)
	}
	emails := map[string]emulator.Email{}
	for _, one := range e.Emails(t) {
		emails[one.MessageID] = one
	}
	for id, subject := range map[string]string{
		plain: "Grüße", rendered: "Hello Carol", outcomes[0].MessageID: "Hello Dan", outcomes[2].MessageID: "Hello you",
	} {
		if got := emails[id]; got.Subject != subject || got.From != "=?utf-8?q?Gr=C3=B6=C3=9Fe?= <news@example.com>" || len(got.Headers) != 1 {
			t.Errorf("the message with %q: %+v", subject, got)
		}
	}
	if got := emails[plain]; got.Body.HTML != "<p>text</p>" || got.Body.Text != "text" || len(got.Destination.BCC) != 1 || len(got.Destination.CC) != 1 {
		t.Errorf("the plain message: %+v", got)
	}
	if got := emails[inline[0].MessageID]; got.Subject != "Inline Gus" || got.Body.HTML != `<p><b>"Gus"</b> & </p>` || len(got.Headers) != 2 {
		t.Errorf("the message with a template of the call: %+v", got)
	}
	if len(emails) != 5 {
		t.Errorf("the emulator took %d messages", len(emails))
	}

	absent := sending.Message{Envelope: envelope, To: []string{"ada@example.org"}, Content: sending.Content{Template: "absent"}}
	_, err = account.Send(t.Context(), "org", absent)
	conformance.WantKind(t, "a template that is not there", err, sending.Rejected)
	_, err = account.Contact(t.Context(), "org", "ada@example.org")
	// The emulator has no contact lists. It answers a call about a contact with a page that
	// is not in the error format of Amazon SES.
	conformance.WantKind(t, "what it does not know", err, sending.Refused)
}
