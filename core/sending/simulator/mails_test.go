package simulator_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/sentmail"
)

// keeping is a stage that keeps messages and has no limits of sending.
func keeping(t testing.TB, most int) *stage {
	t.Helper()
	with := setup()
	with.Account.Max24HourSend, with.Account.MaxSendRate = -1, 0
	return newStage(t, simulator.Options{KeptMails: most}, with)
}

// TestKeptMailOfABulk keeps a message whose template was part of a bulk call. Values are inserted
// as they are, and the headers of a recipient replace those of all.
func TestKeptMailOfABulk(t *testing.T) {
	t.Parallel()
	s := keeping(t, 10)
	b := sending.Bulk{
		Envelope: sending.Envelope{From: "shop@example.com", Headers: []sending.Header{{Name: "X-Kind", Value: "all"}, {Name: "X-All", Value: "1"}}},
		Inline:   sending.InlineTemplate{Subject: "{{subject}}", HTML: "<p>{{html0}}{{html1}}</p>", Text: "{{text0}}"},
		Recipients: []sending.BulkRecipient{
			{To: "ada@example.org", Data: `{"subject":"Hi","html0":"<b>&</b>{{html1}}","html1":"","text0":"& <"}`, Headers: []sending.Header{{Name: "x-kind", Value: "own"}}},
			{To: "bob@example.org", Data: `{"subject":"Hi","html0":"","html1":"","text0":""}`, Headers: []sending.Header{{Name: "X-Kind", Value: "a\r\nBcc: eve@example.org"}}},
		},
	}
	outcomes, err := s.SendBulk(t.Context(), "org", b)
	must(t, err)
	if f := outcomes[1].Failure; f == nil || f.Kind != sending.Invalid {
		t.Errorf("a header with a line end: %+v", outcomes[1])
	}
	got, err := s.Mail(t.Context(), "org", outcomes[0].MessageID)
	must(t, err)
	if got.Subject != "Hi" || got.HTML != "<p><b>&</b>{{html1}}</p>" || got.Text != "& <" {
		t.Errorf("%+v", got)
	}
	headers := fmt.Sprint(got.Headers)
	if !strings.Contains(headers, "{X-All 1} {x-kind own}") || strings.Contains(headers, "all") {
		t.Errorf("the headers %s", headers)
	}
}

func TestKeptMail(t *testing.T) {
	t.Parallel()
	s := keeping(t, 10)
	m := message("Ben <Ben@example.net>")
	m.CC, m.BCC, m.ReplyTo = []string{"cc@example.net"}, []string{"hidden@example.net"}, []string{"help@example.com"}
	m.ConfigurationSet, m.Test, m.Tags = "both", true, map[string]string{"campaign": "spring"}
	m.Headers = []sending.Header{{Name: "List-Unsubscribe", Value: "<https://app.example/u/abc>"}}
	m.Content = sending.Content{Subject: "Grüße", Text: "Hello", HTML: "<p>Hello</p>"}
	id, err := s.Send(t.Context(), "org", m)
	must(t, err)
	got, err := s.Mail(t.Context(), "org", id)
	must(t, err)
	want := sentmail.Mail{
		Summary: sentmail.Summary{
			ID: id, SentAt: s.now, From: "Shop <shop@example.com>", Recipients: []string{"Ben <Ben@example.net>", "cc@example.net", "hidden@example.net"},
			Subject: "Grüße", ConfigurationSet: "both", Test: true, Outcome: sentmail.Delivered,
		},
		Text: "Hello", HTML: "<p>Hello</p>",
		Headers: []sentmail.Header{
			{Name: "From", Value: "Shop <shop@example.com>"},
			{Name: "To", Value: "Ben <Ben@example.net>"},
			{Name: "Reply-To", Value: "help@example.com"},
			{Name: "Cc", Value: "cc@example.net"},
			{Name: "Subject", Value: "Grüße"},
			{Name: "MIME-Version", Value: "1.0"},
			{Name: "List-Unsubscribe", Value: "<https://app.example/u/abc>"},
		},
		Tags: map[string]string{"campaign": "spring", core.TestTag: "true"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the kept message (-want +got):\n%s", diff)
	}
	for _, org := range []string{"other", "org"} {
		_, err := s.Mail(t.Context(), org, strings.Replace(id, "0100", "0101", 1))
		wantFailure(t, err, map[string]sending.FailureKind{"other": sending.NotConnected, "org": sending.NotFound}[org])
	}
	must(t, s.Seed(t.Context(), "other", setup()))
	_, err = s.Mail(t.Context(), "other", id)
	wantFailure(t, err, sending.NotFound)
}

// TestOutcomesOfKeptMails checks that the outcome of a kept message is the one that its
// events report, and that a template is kept as rendered.
func TestOutcomesOfKeptMails(t *testing.T) {
	t.Parallel()
	s := keeping(t, 100)
	for to, want := range map[string]sentmail.Outcome{
		"ben@example.net": sentmail.Delivered, "bounce@simulator.amazonses.com": sentmail.Bounced, "complaint@simulator.amazonses.com": sentmail.Complained,
		"success+delay@simulator.amazonses.com": sentmail.Delivered, "complained@example.net": sentmail.Complained,
	} {
		id, err := s.Send(t.Context(), "org", message("ann@example.net", to, "cy@example.net"))
		must(t, err)
		if got, err := s.Mail(t.Context(), "org", id); err != nil || got.Outcome != want {
			t.Errorf("%s: %q, %v, want %q", to, got.Outcome, err, want)
		}
	}
	rejected := message("ben@example.net")
	rejected.Content.Text = "EICAR-STANDARD-ANTIVIRUS-TEST-FILE"
	id, err := s.Send(t.Context(), "org", rejected)
	must(t, err)
	if got, err := s.Mail(t.Context(), "org", id); err != nil || got.Outcome != sentmail.Rejected {
		t.Errorf("a virus: %+v, %v", got, err)
	}
	outcomes, err := s.SendBulk(t.Context(), "org", sending.Bulk{
		Envelope: sending.Envelope{From: "shop@example.com"}, Template: "welcome", DefaultData: `{"order":{"number":7}}`,
		Recipients: []sending.BulkRecipient{{To: "ann@example.net", Data: `{"name":"Ann"}`}, {To: "ben@example.net"}},
	})
	must(t, err)
	for i, want := range []sentmail.Mail{
		{Summary: sentmail.Summary{Subject: "Hello Ann", Outcome: sentmail.Delivered}, Text: "Dear Ann, your order 7"},
		{Summary: sentmail.Summary{Subject: "Hello ", Outcome: sentmail.RenderingFailed}, Text: "Dear , your order 7"},
	} {
		got, err := s.Mail(t.Context(), "org", outcomes[i].MessageID)
		if err != nil || got.Subject != want.Subject || got.Outcome != want.Outcome || got.Text != want.Text || got.Tags[core.TemplateTag] != "welcome" {
			t.Errorf("recipient %d: %+v, %v", i, got, err)
		}
	}
}

// sendNumbered sends n messages to person-0@example.net and so on, with numbered subjects.
func (s *stage) sendNumbered(t testing.TB, n int) {
	t.Helper()
	for i := range n {
		m := message(fmt.Sprintf("person-%d@example.net", i))
		m.Content.Subject = fmt.Sprintf("Über %d", i)
		_, err := s.Send(t.Context(), "org", m)
		must(t, err)
	}
}

// subjects reads all pages of kept messages and returns their subjects.
func (s *stage) subjects(t testing.TB, search string, limit int) []string {
	t.Helper()
	var all []string
	q := sentmail.Query{Search: search, Limit: limit}
	for {
		page, next, err := s.Mails(t.Context(), "org", q)
		must(t, err)
		if len(page) > limit {
			t.Fatalf("a page has %d messages, want at most %d", len(page), limit)
		}
		for _, m := range page {
			all = append(all, m.Subject)
		}
		if next == "" {
			return all
		}
		q.Cursor = next
	}
}

func TestPagesOfKeptMails(t *testing.T) {
	t.Parallel()
	s := keeping(t, 50)
	if _, _, err := s.Mails(t.Context(), "nobody", sentmail.Query{}); err == nil {
		t.Error("an organization without an account has messages")
	}
	s.sendNumbered(t, 7)
	for _, test := range []struct {
		search string
		limit  int
		want   string
	}{
		{"", 3, "Über 6,Über 5,Über 4,Über 3,Über 2,Über 1,Über 0"},
		{"", 7, "Über 6,Über 5,Über 4,Über 3,Über 2,Über 1,Über 0"},
		{"PERSON-5@", 2, "Über 5"},
		{"über", 6, "Über 6,Über 5,Über 4,Über 3,Über 2,Über 1,Über 0"},
		{"%", 2, ""},
	} {
		if got := strings.Join(s.subjects(t, test.search, test.limit), ","); got != test.want {
			t.Errorf("%q by %d: %s, want %s", test.search, test.limit, got, test.want)
		}
	}
	page, next, err := s.Mails(t.Context(), "org", sentmail.Query{Limit: 2})
	if err != nil || len(page) != 2 || next == "" {
		t.Fatalf("%d messages, %q, %v", len(page), next, err)
	}
	must(t, s.Seed(t.Context(), "other", setup()))
	_, _, err = s.Mails(t.Context(), "other", sentmail.Query{Cursor: next})
	wantFailure(t, err, sending.Invalid)
	if page, _, err := s.Mails(t.Context(), "other", sentmail.Query{}); err != nil || len(page) != 0 {
		t.Errorf("another organization reads %d messages, %v", len(page), err)
	}
}

// TestOldMailsAreDeleted checks that an account keeps its newest messages only, and that
// messages of another account do not count.
func TestOldMailsAreDeleted(t *testing.T) {
	t.Parallel()
	s := keeping(t, 5)
	with := setup()
	must(t, s.Seed(t.Context(), "other", with))
	_, err := s.Send(t.Context(), "other", message("ann@example.net"))
	must(t, err)
	s.sendNumbered(t, 99)
	if got := len(s.subjects(t, "", 50)); got != 99 {
		t.Errorf("before the first deletion, %d messages are kept, want 99", got)
	}
	s.sendNumbered(t, 1)
	if got := s.subjects(t, "", 50); len(got) != 5 {
		t.Errorf("%v are kept, want 5", got)
	}
	if page, _, err := s.Mails(t.Context(), "other", sentmail.Query{}); err != nil || len(page) != 1 {
		t.Errorf("another organization keeps %d messages, %v, want 1", len(page), err)
	}
}

func TestLongMailIsCut(t *testing.T) {
	t.Parallel()
	s := keeping(t, 5)
	m := message("ann@example.net")
	m.Content.HTML = strings.Repeat("ü", 300<<10)
	id, err := s.Send(t.Context(), "org", m)
	must(t, err)
	got, err := s.Mail(t.Context(), "org", id)
	if err != nil || !got.Cut || got.Text != "Hello" || got.HTML != strings.Repeat("ü", 256<<10) {
		t.Errorf("cut: %t, text %q, %d bytes of HTML, %v", got.Cut, got.Text, len(got.HTML), err)
	}
}

// TestNoMailIsKept checks that accounts keep no messages unless told to, and that a message
// that is not sent is not kept.
func TestNoMailIsKept(t *testing.T) {
	t.Parallel()
	none, some := keeping(t, 0), keeping(t, 5)
	_, err := none.Send(t.Context(), "org", message("ann@example.net"))
	must(t, err)
	unsent := message("ann@example.net")
	unsent.From = "shop@pending.example"
	_, err = some.Send(t.Context(), "org", unsent)
	wantFailure(t, err, sending.Rejected)
	for name, s := range map[string]*stage{"no messages to keep": none, "a refused message": some} {
		if page, _, err := s.Mails(t.Context(), "org", sentmail.Query{}); err != nil || len(page) != 0 {
			t.Errorf("%s: %d messages, %v", name, len(page), err)
		}
	}
}

// TestFileOfVersionThreeIsBroughtUpToDate checks that an account of version 3, which keeps
// no messages, keeps them after it is opened.
func TestFileOfVersionThreeIsBroughtUpToDate(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "account.db")
	db, err := sql.Open("sqlite", path)
	must(t, err)
	for _, file := range []string{"schema.sql", "schema_2.sql", "schema_3.sql"} {
		schema, err := os.ReadFile(file)
		must(t, err)
		_, err = db.ExecContext(t.Context(), string(schema))
		must(t, err)
	}
	_, err = db.ExecContext(t.Context(), `
		PRAGMA application_id = 1296593761; PRAGMA user_version = 3;
		INSERT INTO accounts (org_id, account_id, region, sandbox, sending_enabled, max_24_hour_send, max_send_rate, sent_last_24_hours, messages)
		VALUES ('org', '123456789012', 'eu-west-1', 0, 1, 200, 1, 7, 41);
		INSERT INTO identities VALUES ('org', 'example.com', 'example.com', 'success', '')`)
	must(t, err)
	must(t, db.Close())
	for sent := range 2 {
		s := open(t, path, simulator.Options{KeptMails: 5, Clock: func() time.Time { return time.Unix(int64(sent)*60, 0) }})
		if page, _, err := s.Mails(t.Context(), "org", sentmail.Query{}); err != nil || len(page) != sent {
			t.Errorf("%d messages, %v, want %d", len(page), err, sent)
		}
		_, err := s.Send(t.Context(), "org", message("ann@example.net"))
		must(t, err)
	}
}
