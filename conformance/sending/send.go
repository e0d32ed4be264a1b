package sending

import (
	"strings"
	"testing"

	port "github.com/mailhelm/mailhelm/core/sending"
)

// sender is an address of the verified domain in the setup of [senders], with a display
// name.
const sender = "Ada <news@example.com>"

// senders returns a setup for tests of sending. The account's quota and send rate are too
// high to affect a test.
func senders() Setup {
	setup := people()
	setup.Overview.Max24HourSend, setup.Overview.MaxSendRate = 50_000, 1_000
	setup.Identities = []port.Identity{
		{Identity: "example.com", Verification: port.Success}, {Identity: "new.example.net", Verification: port.Pending},
	}
	setup.ConfigurationSets = []port.ConfigurationSet{{Name: "marketing"}}
	setup.Templates = []port.Template{welcome()}
	return setup
}

// message returns a valid message with a configuration set, a tag, text and HTML.
func message(to string) port.Message {
	return port.Message{
		Envelope: port.Envelope{From: sender, ConfigurationSet: "marketing", Tags: map[string]string{"campaign": "spring"}},
		To:       []string{to}, Content: port.Content{Subject: "Grüße", Text: "text", HTML: "<p>text</p>"},
	}
}

// bulk returns a valid bulk message with the template "welcome" and without a configuration
// set.
func bulk(to ...string) port.Bulk {
	b := port.Bulk{Envelope: port.Envelope{From: sender}, Template: "welcome", DefaultData: `{"name":"you"}`}
	for _, email := range to {
		b.Recipients = append(b.Recipients, port.BulkRecipient{To: email})
	}
	return b
}

// messagesAreHandedOver sends messages of every form. Each must get an id of its own, and
// recipients in CC and BCC must count for the quota.
func messagesAreHandedOver(t *testing.T, s Subject) {
	s.Seed(t, "org", senders())
	templated, full := message("bob@example.org"), message("carol@example.org")
	templated.Content = port.Content{Template: "welcome", TemplateData: `{"name":"Bob"}`}
	full.CC, full.BCC, full.ReplyTo = []string{"dan@example.org"}, []string{"eve@example.org"}, []string{"help@example.com"}
	full.Headers = []port.Header{{Name: "List-Unsubscribe", Value: "<https://example.com/u>"}, {Name: "X-Campaign", Value: "spring"}}
	full.Test, full.ConfigurationSet = true, ""
	ids := map[string]bool{}
	for _, m := range []port.Message{message("ada@example.org"), templated, full, message("ada@example.org")} {
		id, err := s.Account.Send(t.Context(), "org", m)
		if err != nil || id == "" || ids[id] {
			t.Errorf("the message to %v has the id %q, %v", m.To, id, err)
		}
		ids[id] = true
	}
	wantSent(t, s, 6)
}

// wantSent checks the number of recipients that the account has counted in the last 24
// hours.
func wantSent(t *testing.T, s Subject, want int64) {
	t.Helper()
	if o, err := s.Account.Overview(t.Context(), "org"); err != nil || o.SentLast24Hours != want {
		t.Errorf("%d recipients were sent to, %v, want %d", o.SentLast24Hours, err, want)
	}
}

// unsendableMessages sends valid messages that the state of the account forbids. Each must
// fail with Rejected, and its recipients must not count for the quota.
func unsendableMessages(t *testing.T, s Subject) {
	sandbox := senders()
	sandbox.Overview.Sandbox = true
	paused := senders()
	paused.Overview.SendingEnabled = false
	s.Seed(t, "org", senders())
	s.Seed(t, "sandbox", sandbox)
	s.Seed(t, "paused", paused)
	for name, spoil := range map[string]func(*port.Message){
		"a sender that is not verified":            func(m *port.Message) { m.From = "ada@elsewhere.example" },
		"a sender that waits for its verification": func(m *port.Message) { m.From = "ada@new.example.net" },
		"a channel that is not there":              func(m *port.Message) { m.ConfigurationSet = "absent" },
		"a template that is not there":             func(m *port.Message) { m.Content = port.Content{Template: "absent"} },
	} {
		bad := message("ada@example.org")
		spoil(&bad)
		_, err := s.Account.Send(t.Context(), "org", bad)
		WantKind(t, name, err, port.Rejected)
	}
	for _, org := range []string{"sandbox", "paused"} {
		_, err := s.Account.Send(t.Context(), org, message("stranger@example.org"))
		WantKind(t, org, err, port.Rejected)
	}
	if _, err := s.Account.Send(t.Context(), "sandbox", message("verified@example.com")); err != nil {
		t.Errorf("to a verified address from the sandbox: %v", err)
	}
	wantSent(t, s, 0)
}

// invalidMessages sends malformed messages, which must fail with Invalid before anything
// is sent.
func invalidMessages(t *testing.T, s Subject) {
	s.Seed(t, "org", senders())
	many := make([]string, 51)
	for i := range many {
		many[i] = "ada@example.org"
	}
	for name, spoil := range map[string]func(*port.Message){
		"no recipient":                      func(m *port.Message) { m.To = nil },
		"too many recipients":               func(m *port.Message) { m.To = many },
		"a recipient that is none":          func(m *port.Message) { m.To = []string{"ada"} },
		"no sender":                         func(m *port.Message) { m.From = "" },
		"a sender with a line break":        func(m *port.Message) { m.From = "ada@example.com\r\nBcc: eve@example.com" },
		"a tag with other characters":       func(m *port.Message) { m.Tags = map[string]string{"a b": "c d"} },
		"a header with a line break":        func(m *port.Message) { m.Headers = []port.Header{{Name: "X-A", Value: "a\r\nBcc: eve@example.com"}} },
		"a subject with a line break":       func(m *port.Message) { m.Content.Subject = "a\r\nBcc: eve@example.com" },
		"neither text nor HTML":             func(m *port.Message) { m.Content = port.Content{Subject: "x"} },
		"template data that is no JSON":     func(m *port.Message) { m.Content = port.Content{Template: "welcome", TemplateData: "{"} },
		"an address to answer that is none": func(m *port.Message) { m.ReplyTo = []string{"nobody"} },
	} {
		bad := message("ada@example.org")
		spoil(&bad)
		_, err := s.Account.Send(t.Context(), "org", bad)
		WantKind(t, name, err, port.Invalid)
	}
	wantSent(t, s, 0)
}

// dailyQuotaIsKept sends to more recipients than the quota of 24 hours allows. The call
// must fail with Throttled, and its recipients must not count for the quota.
func dailyQuotaIsKept(t *testing.T, s Subject) {
	setup := senders()
	setup.Overview.Max24HourSend = 2
	s.Seed(t, "org", setup)
	for range 2 {
		if _, err := s.Account.Send(t.Context(), "org", message("ada@example.org")); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Account.Send(t.Context(), "org", message("ada@example.org"))
	WantKind(t, "a third message of two", err, port.Throttled)
	wantSent(t, s, 2)
}

// bulkOutcomes sends a bulk message with one invalid recipient. The other recipients must
// get their messages, each with an id of its own.
func bulkOutcomes(t *testing.T, s Subject) {
	s.Seed(t, "org", senders())
	b := bulk("ada@example.org", "no address", "bob@example.org")
	b.Recipients[0].Data, b.Recipients[0].Tags = `{"name":"Ada"}`, map[string]string{"row": "1"}
	outcomes, err := s.Account.SendBulk(t.Context(), "org", b)
	if err != nil || len(outcomes) != 3 {
		t.Fatalf("%v, %v", outcomes, err)
	}
	if f := outcomes[1].Failure; f == nil || f.Kind != port.Invalid || outcomes[1].MessageID != "" {
		t.Errorf("a recipient that is none: %+v", outcomes[1])
	}
	for _, i := range []int{0, 2} {
		if outcomes[i].Failure != nil || outcomes[i].MessageID == "" {
			t.Errorf("recipient %d: %+v", i, outcomes[i])
		}
	}
	if outcomes[0].MessageID == outcomes[2].MessageID {
		t.Error("two messages have one id")
	}
	wantSent(t, s, 2)
}

// inlineBulks sends a bulk message whose template is part of the call, with headers of each
// recipient. One without a text and an HTML part must fail with Invalid.
func inlineBulks(t *testing.T, s Subject) {
	s.Seed(t, "org", senders())
	b := bulk("ada@example.org", "no address", "bob@example.org")
	b.Template, b.Inline = "", port.InlineTemplate{Subject: "Hi {{name}}", HTML: "<p>{{name}}</p>"}
	b.Headers = []port.Header{{Name: "X-Campaign", Value: "spring"}}
	for i := range b.Recipients {
		b.Recipients[i].Data, b.Recipients[i].Headers = `{"name":"<b>\"Ada\"</b>"}`, []port.Header{{Name: "List-Unsubscribe", Value: "<https://example.com/u>"}}
	}
	outcomes, err := s.Account.SendBulk(t.Context(), "org", b)
	if err != nil || len(outcomes) != 3 || outcomes[0].MessageID == "" || outcomes[2].MessageID == "" || outcomes[1].Failure == nil || outcomes[1].Failure.Kind != port.Invalid {
		t.Fatalf("%+v, %v", outcomes, err)
	}
	b.Inline.HTML = ""
	_, err = s.Account.SendBulk(t.Context(), "org", b)
	WantKind(t, "a template without parts", err, port.Invalid)
	wantSent(t, s, 2)
}

// invalidBulks sends bulk messages without recipients, with too many recipients, and with a
// sender or template that the account refuses. No recipient may be accepted.
func invalidBulks(t *testing.T, s Subject) {
	s.Seed(t, "org", senders())
	_, err := s.Account.SendBulk(t.Context(), "org", bulk())
	WantKind(t, "nobody", err, port.Invalid)
	_, err = s.Account.SendBulk(t.Context(), "org", bulk(strings.Fields(strings.Repeat("ada@example.org ", port.MaxBulk+1))...))
	WantKind(t, "too many", err, port.Invalid)
	stranger := bulk("ada@example.org")
	stranger.From = "ada@elsewhere.example"
	wantAllRejected(t, s, "a sender that is not verified", stranger)
	absent := bulk("ada@example.org")
	absent.Template = "absent"
	wantAllRejected(t, s, "a template that is not there", absent)
	astray := bulk("ada@example.org")
	astray.ConfigurationSet = "absent"
	wantAllRejected(t, s, "a channel that is not there", astray)
	wantSent(t, s, 0)
}

// wantAllRejected checks that the account accepts no recipient of a bulk message. Either
// the call fails with Rejected, or the outcome of each recipient is Rejected.
func wantAllRejected(t *testing.T, s Subject, what string, b port.Bulk) {
	t.Helper()
	outcomes, err := s.Account.SendBulk(t.Context(), "org", b)
	if err != nil {
		WantKind(t, what, err, port.Rejected)
		return
	}
	for _, one := range outcomes {
		if one.Failure == nil || one.Failure.Kind != port.Rejected {
			t.Errorf("%s: %+v", what, one)
		}
	}
}
