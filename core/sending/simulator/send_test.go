package simulator_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// stage is a simulator with an account outside the sandbox, and a clock that the test sets.
type stage struct {
	*simulator.Simulator
	now time.Time
}

func (s *stage) clock() time.Time { return s.now }

func production() *sending.Overview {
	return &sending.Overview{AccountID: "123456789012", SendingEnabled: true, Max24HourSend: 1000, MaxSendRate: 100}
}

func setup() simulator.Setup {
	return simulator.Setup{
		Account: production(),
		Identities: []sending.Identity{
			{Identity: "Example.com", Verification: sending.Success},
			{Identity: "ann@example.org", Verification: sending.Success},
			{Identity: "pending.example", Verification: sending.Pending},
		},
		ConfigurationSets: []sending.ConfigurationSet{
			{Name: "both", SuppressionPolicy: []string{"BOUNCE", "COMPLAINT"}},
			{Name: "bounces", SuppressionPolicy: []string{"BOUNCE"}},
			{Name: "none"},
		},
		Suppressed: []sending.Suppressed{
			{Email: "bounced@example.net", Reason: sending.SuppressedByBounce, At: time.Unix(1, 0)},
			{Email: "complained@example.net", Reason: sending.SuppressedByComplaint, At: time.Unix(1, 0)},
		},
		Templates: []sending.Template{{Name: "welcome", Subject: "Hello {{name}}", Text: "Dear {{ name }}, your order {{order.number}}"}},
		List:      list("news"), Contacts: []sending.Contact{{Email: "Reader@example.net", Preferences: map[string]sending.Subscription{"news": sending.OptIn}}},
	}
}

func newStage(t testing.TB, opts simulator.Options, with simulator.Setup) *stage {
	t.Helper()
	s := &stage{now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	opts.Clock = s.clock
	s.Simulator = open(t, filepath.Join(t.TempDir(), "account.db"), opts)
	must(t, s.Seed(t.Context(), "org", with))
	return s
}

func message(to ...string) sending.Message {
	return sending.Message{
		Envelope: sending.Envelope{From: "Shop <shop@example.com>"}, To: to,
		Content: sending.Content{Subject: "Hello", Text: "Hello"},
	}
}

// record has the members of an event record that the tests check.
type record struct {
	EventType string
	Mail      struct {
		MessageID   string
		Destination []string
		Tags        map[string][]string
	}
	Bounce    struct{ BounceType, BounceSubType string }
	Failure   struct{ ErrorMessage, TemplateName string }
	Complaint struct{ Timestamp, ComplaintSubType, ComplaintFeedbackType string }
}

// records returns the records of all events in the outbox.
func (s *stage) records(t testing.TB) []record {
	t.Helper()
	due, err := s.Outbox().Due(t.Context(), "org", s.now.AddDate(1, 0, 0), 100_000)
	must(t, err)
	records := make([]record, len(due))
	for i, e := range due {
		must(t, json.Unmarshal(e.JSON, &records[i]))
	}
	return records
}

// names returns the types of the event records, separated by spaces. Bounces and complaints
// include their subtype.
func names(records []record) string {
	var list []string
	for _, r := range records {
		name := r.EventType
		if name == "Bounce" {
			name += ":" + r.Bounce.BounceType + ":" + r.Bounce.BounceSubType
		}
		if r.Complaint.ComplaintSubType != "" {
			// A complaint with a subtype must not have a ComplaintFeedbackType. If it has one,
			// the name differs from the expected name.
			name += ":" + r.Complaint.ComplaintSubType + r.Complaint.ComplaintFeedbackType
		}
		list = append(list, name)
	}
	return strings.Join(list, " ")
}

func TestEventsOfASimulatedMessage(t *testing.T) {
	t.Parallel()
	const suppressed, complained = "Send Bounce:Permanent:OnAccountSuppressionList", "Send Complaint:OnAccountSuppressionList"
	for name, test := range map[string]struct {
		set, to, want string
	}{
		"delivered":                        {"", "ben@example.net", "Send Delivery"},
		"success":                          {"", "success@simulator.amazonses.com", "Send Delivery"},
		"success with a label":             {"", "Success+label1@Simulator.amazonses.com", "Send Delivery"},
		"bounce":                           {"", "bounce@simulator.amazonses.com", "Send Bounce:Permanent:General"},
		"bounce with a label":              {"", "bounce+x@simulator.amazonses.com", "Send Bounce:Permanent:General"},
		"a transient bounce":               {"", "bounce+transient@simulator.amazonses.com", "Send Bounce:Transient:MailboxFull"},
		"an undetermined bounce":           {"", "Bounce+Undetermined@simulator.amazonses.com", "Send Bounce:Undetermined:Undetermined"},
		"a late delivery":                  {"", "success+delay@simulator.amazonses.com", "Send DeliveryDelay Delivery"},
		"a label of another name":          {"", "complaint+transient@simulator.amazonses.com", "Send Delivery Complaint"},
		"complaint":                        {"", "complaint@simulator.amazonses.com", "Send Delivery Complaint"},
		"ooto":                             {"", "ooto@simulator.amazonses.com", "Send Delivery"},
		"the global list":                  {"", "suppressionlist@simulator.amazonses.com", "Send Bounce:Permanent:Suppressed"},
		"unknown at the mailbox simulator": {"", "nobody@simulator.amazonses.com", "Send Bounce:Permanent:General"},
		"bounced before":                   {"", "bounced@example.net", suppressed},
		"bounced before, in capitals":      {"", "BOUNCED@example.net", suppressed},
		"complained before":                {"", "complained@example.net", complained},
		"bounced, policy of both":          {"both", "bounced@example.net", suppressed},
		"complained, policy of both":       {"both", "complained@example.net", complained},
		"bounced, policy of bounces":       {"bounces", "bounced@example.net", suppressed},
		"complained, policy of bounces":    {"bounces", "complained@example.net", "Send Delivery"},
		"bounced, no policy":               {"none", "bounced@example.net", "Send Delivery"},
		"a name with an address":           {"", "Ben <bounced@example.net>", suppressed},
		"an address beyond ASCII":          {"", "größe@example.net", "Send Delivery"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, simulator.Options{}, setup())
			m := message(test.to)
			m.ConfigurationSet = test.set
			id, err := s.Send(t.Context(), "org", m)
			must(t, err)
			got := s.records(t)
			if names(got) != test.want {
				t.Errorf("what happens is %q, want %q", names(got), test.want)
			}
			for _, r := range got {
				if r.Mail.MessageID != id || !strings.Contains(test.to, r.Mail.Destination[0]) {
					t.Errorf("an event of another message: %+v", r.Mail)
				}
			}
			if _, err := s.FindSuppressed(t.Context(), "org", test.to); err == nil != strings.Contains(strings.ToLower(test.to), "ed@example.net") && !strings.Contains(test.to, "<") {
				t.Errorf("afterwards, the address is on the list: %v", err)
			}
		})
	}
}

func TestMessagesThatAreNotTaken(t *testing.T) {
	t.Parallel()
	sandbox := func(s *simulator.Setup) { s.Account.Sandbox = true }
	many := make([]string, 51)
	for i := range many {
		many[i] = fmt.Sprintf("p%d@example.net", i)
	}
	for name, test := range map[string]struct {
		setup   func(*simulator.Setup)
		message func(*sending.Message)
		want    sending.FailureKind
	}{
		"sandbox, a stranger":             {sandbox, func(*sending.Message) {}, sending.Rejected},
		"sandbox, one stranger of two":    {sandbox, func(m *sending.Message) { m.To, m.BCC = []string{"ann@example.org"}, []string{"ben@example.net"} }, sending.Rejected},
		"sandbox, a verified address":     {sandbox, func(m *sending.Message) { m.To = []string{"Ann@example.org"} }, ""},
		"sandbox, a verified domain":      {sandbox, func(m *sending.Message) { m.To = []string{"ben@example.com"} }, ""},
		"sandbox, the mailbox simulator":  {sandbox, func(m *sending.Message) { m.To = []string{"bounce+1@simulator.amazonses.com"} }, ""},
		"sending off":                     {func(s *simulator.Setup) { s.Account.SendingEnabled = false }, func(*sending.Message) {}, sending.Rejected},
		"From of nobody":                  {nil, func(m *sending.Message) { m.From = "x@example.net" }, sending.Rejected},
		"From of a pending domain":        {nil, func(m *sending.Message) { m.From = "x@pending.example" }, sending.Rejected},
		"From of a sister domain":         {nil, func(m *sending.Message) { m.From = "x@notexample.com" }, sending.Rejected},
		"From of a subdomain":             {nil, func(m *sending.Message) { m.From = "x@mail.example.com" }, ""},
		"From of a verified address":      {nil, func(m *sending.Message) { m.From = "ann@example.org" }, ""},
		"From beside a verified address":  {nil, func(m *sending.Message) { m.From = "ben@example.org" }, sending.Rejected},
		"no From":                         {nil, func(m *sending.Message) { m.From = "" }, sending.Invalid},
		"a From of two lines":             {nil, func(m *sending.Message) { m.From = "a\r\n <x@example.com>" }, sending.Invalid},
		"an unknown configuration set":    {nil, func(m *sending.Message) { m.ConfigurationSet = "other" }, sending.Rejected},
		"an unknown template":             {nil, func(m *sending.Message) { m.Content = sending.Content{Template: "other"} }, sending.Rejected},
		"template data that is no object": {nil, func(m *sending.Message) { m.Content = sending.Content{Template: "welcome", TemplateData: "[1]"} }, sending.Invalid},
		"nobody":                          {nil, func(m *sending.Message) { m.To = nil }, sending.Invalid},
		"fifty":                           {nil, func(m *sending.Message) { m.To, m.CC = many[:20], many[20:50] }, ""},
		"fifty-one":                       {nil, func(m *sending.Message) { m.To, m.BCC = many[:20], many[20:] }, sending.Invalid},
		"a malformed recipient":           {nil, func(m *sending.Message) { m.To = []string{"nobody"} }, sending.Invalid},
		"a NUL in a recipient":            {nil, func(m *sending.Message) { m.To = []string{"a\x00@example.net"} }, sending.Invalid},
		"invalid UTF-8 in a recipient":    {nil, func(m *sending.Message) { m.To = []string{"\xff@example.net"} }, sending.Invalid},
		"no content":                      {nil, func(m *sending.Message) { m.Content = sending.Content{Subject: "x"} }, sending.Invalid},
		"a subject that is no UTF-8":      {nil, func(m *sending.Message) { m.Content.Subject = "\xff" }, sending.Invalid},
		"a subject of two lines":          {nil, func(m *sending.Message) { m.Content.Subject = "a\r\nBcc: x" }, sending.Invalid},
		"a strange tag":                   {nil, func(m *sending.Message) { m.Tags = map[string]string{"a b": "c"} }, sending.Invalid},
		"a strange header":                {nil, func(m *sending.Message) { m.Headers = []sending.Header{{Name: "X:Y", Value: "z"}} }, sending.Invalid},
		"a header of two lines":           {nil, func(m *sending.Message) { m.Headers = []sending.Header{{Name: "X-Y", Value: "z\nBcc: a"}} }, sending.Invalid},
		"a strange Reply-To":              {nil, func(m *sending.Message) { m.ReplyTo = []string{"@"} }, sending.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			with := setup()
			if test.setup != nil {
				test.setup(&with)
			}
			s := newStage(t, simulator.Options{}, with)
			m := message("ben@example.net")
			test.message(&m)
			id, err := s.Send(t.Context(), "org", m)
			if test.want == "" {
				must(t, err)
				return
			}
			wantFailure(t, err, test.want)
			o, err := s.Overview(t.Context(), "org")
			must(t, err)
			if got := s.records(t); id != "" || len(got) != 0 || o.SentLast24Hours != 0 {
				t.Errorf("what was not taken has the id %q, the events %q and counts %d", id, names(got), o.SentLast24Hours)
			}
		})
	}
}

func TestSenderWithoutAnOrganizationIsNotConnected(t *testing.T) {
	t.Parallel()
	s := newStage(t, simulator.Options{}, setup())
	_, err := s.Send(t.Context(), "nobody", message("a@example.net"))
	wantFailure(t, err, sending.NotConnected)
}

func wantWait(t *testing.T, err error, wait time.Duration) {
	t.Helper()
	if f, ok := errors.AsType[*sending.Failure](err); !ok || f.Kind != sending.Throttled || f.RetryAfter != wait {
		t.Errorf("the call fails with %v, want to be throttled for %v", err, wait)
	}
}

func TestRateOfASecond(t *testing.T) {
	t.Parallel()
	with := setup()
	with.Account.MaxSendRate = 3
	s := newStage(t, simulator.Options{}, with)
	send := func(to ...string) error {
		_, err := s.Send(t.Context(), "org", message(to...))
		return err
	}
	must(t, send("a@example.net", "b@example.net"))
	s.now = s.now.Add(400 * time.Millisecond)
	must(t, send("a@example.net"))
	wantWait(t, send("a@example.net"), 600*time.Millisecond)
	s.now = s.now.Add(600 * time.Millisecond) // now the first message was sent a second ago
	must(t, send("a@example.net", "b@example.net"))
	wantWait(t, send("a@example.net"), 400*time.Millisecond)
	s.now = s.now.Add(time.Second)
	must(t, send("a@example.net", "b@example.net", "c@example.net", "d@example.net"))
}

func TestQuotaOfADay(t *testing.T) {
	t.Parallel()
	with := setup()
	with.Account.Max24HourSend, with.Account.SentLast24Hours = 10, 7
	s := newStage(t, simulator.Options{}, with)
	send := func(to ...string) error {
		_, err := s.Send(t.Context(), "org", message(to...))
		return err
	}
	must(t, send("a@example.net", "b@example.net"))
	s.now = s.now.Add(6 * time.Hour)
	wantWait(t, send("a@example.net", "b@example.net"), 18*time.Hour)
	must(t, send("a@example.net"))
	if o, err := s.Overview(t.Context(), "org"); err != nil || o.SentLast24Hours != 10 {
		t.Errorf("the account is %+v, %v", o, err)
	}
	s.now = s.now.Add(18 * time.Hour)
	must(t, send("a@example.net", "b@example.net"))
	wantWait(t, send("a@example.net"), 6*time.Hour)

	with.Account.Max24HourSend, with.Account.SentLast24Hours = -1, 1_000_000
	must(t, s.Seed(t.Context(), "org", with))
	must(t, send("a@example.net"))
	with.Account.Max24HourSend = 1_000_000
	must(t, s.Seed(t.Context(), "org", with))
	s.now = s.now.AddDate(0, 0, 3)
	wantWait(t, send("a@example.net"), time.Hour)
}

func TestBulk(t *testing.T) {
	t.Parallel()
	with := setup()
	with.Account.MaxSendRate = 4
	s := newStage(t, simulator.Options{}, with)
	bulk := sending.Bulk{
		Envelope: sending.Envelope{From: "shop@example.com", Tags: map[string]string{"campaign": "spring"}},
		Template: "welcome", DefaultData: `{"name":"friend","order":{"number":7}}`,
		Recipients: []sending.BulkRecipient{
			{To: "a@example.net", Data: `{"name":"Ann"}`, Tags: map[string]string{"campaign": "summer"}},
			{To: "nobody"},
			{To: "b@example.net", Data: `no JSON`},
			{To: "bounced@example.net"},
			{To: "c@example.net", Data: `{"order":{}}`},
			{To: "d@example.net"},
			{To: "e@example.net"},
		},
	}
	outcomes, err := s.SendBulk(t.Context(), "org", bulk)
	must(t, err)
	var got []string
	ids := map[string]bool{}
	for _, o := range outcomes {
		if o.Failure != nil {
			got = append(got, string(o.Failure.Kind))
			continue
		}
		got = append(got, "taken")
		ids[o.MessageID] = true
	}
	if want := "taken invalid invalid taken taken taken throttled"; strings.Join(got, " ") != want || len(ids) != 4 {
		t.Errorf("the outcomes are %v with %d ids, want %s", got, len(ids), want)
	}
	for _, r := range s.records(t) {
		campaign := "spring"
		if r.Mail.MessageID == outcomes[0].MessageID {
			campaign = "summer"
		}
		if !slices.Equal(r.Mail.Tags["campaign"], []string{campaign}) || !slices.Equal(r.Mail.Tags[core.TemplateTag], []string{"welcome"}) {
			t.Errorf("the tags of %v are %v", r.Mail.Destination, r.Mail.Tags)
		}
		if r.Mail.MessageID == outcomes[4].MessageID && (r.EventType != "Rendering Failure" || r.Failure.TemplateName != "welcome" || !strings.Contains(r.Failure.ErrorMessage, "order.number")) {
			t.Errorf("a missing variable ends as %+v", r)
		}
	}
	for name, spoil := range map[string]func(*sending.Bulk){
		"no recipients":       func(b *sending.Bulk) { b.Recipients = nil },
		"too many recipients": func(b *sending.Bulk) { b.Recipients = make([]sending.BulkRecipient, 51) },
		"no such template":    func(b *sending.Bulk) { b.Template = "other" },
		"not verified":        func(b *sending.Bulk) { b.From = "a@example.net" },
	} {
		spoiled := bulk
		spoil(&spoiled)
		if got, err := s.SendBulk(t.Context(), "org", spoiled); err == nil || got != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

func TestTestsAreTagged(t *testing.T) {
	t.Parallel()
	s := newStage(t, simulator.Options{}, setup())
	m := message("a@example.net")
	m.Test = true
	_, err := s.Send(t.Context(), "org", m)
	must(t, err)
	_, err = s.SendTagged(t.Context(), "org", m)
	must(t, err)
	for i, r := range s.records(t) {
		if _, tagged := r.Mail.Tags[core.TestTag]; tagged != (r.Mail.MessageID == s.records(t)[0].Mail.MessageID) {
			t.Errorf("event %d has the tags %v", i, r.Mail.Tags)
		}
	}
}

func TestBouncesAndComplaintsSuppress(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		behaviour simulator.Behaviour
		set       string
		want      sending.SuppressionReason
	}{
		"bounce":                     {simulator.Behaviour{Bounce: 1}, "", sending.SuppressedByBounce},
		"complaint":                  {simulator.Behaviour{Complaint: 1}, "both", sending.SuppressedByComplaint},
		"bounce that is not kept":    {simulator.Behaviour{Bounce: 1}, "none", ""},
		"complaint that is not kept": {simulator.Behaviour{Complaint: 1}, "bounces", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, simulator.Options{Behaviour: test.behaviour}, setup())
			m := message("new@example.net")
			m.ConfigurationSet = test.set
			_, err := s.Send(t.Context(), "org", m)
			must(t, err)
			_, err = s.FindSuppressed(t.Context(), "org", "new@example.net")
			wantFailure(t, err, sending.NotFound) // it has not happened yet
			page, _, err := s.SuppressedPage(t.Context(), "org", s.now, time.Time{}, "")
			if must(t, err); len(page) != 0 {
				t.Errorf("the list has %v before it happened", page)
			}
			s.now = s.now.Add(24 * time.Hour)
			entry, err := s.FindSuppressed(t.Context(), "org", "NEW@example.net")
			if test.want == "" {
				wantFailure(t, err, sending.NotFound)
				return
			}
			must(t, err)
			if entry.Reason != test.want || entry.Email != "new@example.net" {
				t.Errorf("the entry is %+v", entry)
			}
		})
	}
}

func TestUnsubscribingIsTheContactsChoice(t *testing.T) {
	t.Parallel()
	s := newStage(t, simulator.Options{Behaviour: simulator.Behaviour{Open: 1, Click: 1, Unsubscribe: 1}}, setup())
	_, err := s.Send(t.Context(), "org", message("reader@example.net", "stranger@example.net"))
	must(t, err)
	hasOptedOut := func() bool {
		c, err := s.Contact(t.Context(), "org", "reader@example.net")
		must(t, err)
		return c.UnsubscribeAll
	}
	if hasOptedOut() {
		t.Error("the reader has left before the event")
	}
	got := names(s.records(t))
	if strings.Count(got, "Click") != 2 || strings.Count(got, "Subscription") != 1 || !hasOptedOut() {
		t.Errorf("after %q, the reader has left: %v", got, hasOptedOut())
	}
	back := sending.Contact{Email: "reader@example.net"}
	must(t, s.PutContact(t.Context(), "org", back))
	s.records(t)
	if hasOptedOut() {
		t.Error("an event that is handed out again takes back a later choice")
	}
}

func TestTransientBounces(t *testing.T) {
	t.Parallel()
	s := newStage(t, simulator.Options{Seed: 2, Behaviour: simulator.Behaviour{Transient: 1}}, setup())
	_, err := s.Send(t.Context(), "org", message("ben@example.net"))
	must(t, err)
	if got := names(s.records(t)); got != "Send DeliveryDelay Bounce:Transient:MailboxFull" {
		t.Errorf("what happens is %q", got)
	}
	_, err = s.FindSuppressed(t.Context(), "org", "ben@example.net")
	wantFailure(t, err, sending.NotFound)

	some := newStage(t, simulator.Options{Seed: 2, Behaviour: simulator.Behaviour{Transient: 0.5}}, setup())
	for range 40 {
		_, err := some.Send(t.Context(), "org", message("ben@example.net"))
		must(t, err)
	}
	bounces := strings.Count(names(some.records(t)), "Bounce:Transient")
	if bounces < 10 || bounces > 30 {
		t.Errorf("%d of 40 came back, want about half", bounces)
	}
}
