package notices_test

import (
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/domainauth/notices"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

const (
	digestOfMonday = ": bakery.example: your mail in the week to 7 March 2026"
	oneSender      = ": bakery.example: an unknown sender uses your domain"
)

// each runs a test with a world on each database.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) { test(t, newWorld(t, db)) })
}

// TestNothingByDefault checks that a member who asked for nothing gets nothing, and that turning
// mails off ends them.
func TestNothingByDefault(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ada := w.join("ada")
		w.finding(w.source("a.example", "unknown", "unreviewed", 0), "new_source", "A.", 0)
		w.run()
		w.choose(ada, notices.Choice{Digest: true, Alerts: true})
		w.run() // what is known before a member asks is no news
		w.choose(ada, notices.Choice{})
		w.finding(w.source("b.example", "unknown", "unreviewed", 0), "new_source", "B.", 0)
		w.Set(monday)
		w.run()
		w.sent()
		if n := w.count("domainauth_findings", "NOT announced"); n != 0 {
			t.Errorf("%d findings wait", n)
		}
		log, err := w.db.Audit().FindAudit(t.Context(), w.org, access.AuditFilter{Limit: 10})
		w.must(err)
		w.choose(ada, notices.Choice{}) // changes nothing
		again, err := w.db.Audit().FindAudit(t.Context(), w.org, access.AuditFilter{Limit: 10})
		w.must(err)
		if len(log) != 2 || len(again) != 2 || log[0].ActorID != ada || log[0].SubjectID != w.domain.DomainID ||
			log[1].Action != "domain_notices.chosen" || !strings.Contains(log[1].Detail, `"domain":"bakery.example","digest":true,"alerts":true`) {
			t.Errorf("audit log: %+v", again)
		}
	})
}

// TestWeeklyDigest checks that each member who asked gets one digest on Monday morning, however
// many processes run, and the next one a week later.
func TestWeeklyDigest(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ada, bob := w.join("ada"), w.join("bob")
		w.join("eve")
		w.choose(ada, notices.Choice{Digest: true})
		w.choose(bob, notices.Choice{Digest: true, Alerts: true})
		w.run()
		w.Set(monday.Add(-time.Second))
		w.run()
		w.sent()
		w.Set(monday)
		var running sync.WaitGroup
		for _, name := range []string{"two", "three"} {
			running.Go(func() {
				p := w.process(name)
				for range 2 {
					if err := p.Run(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		running.Wait()
		for range 3 {
			w.Set(w.Now().Add(20 * time.Hour))
			w.run()
		}
		w.sent("ada"+digestOfMonday, "bob"+digestOfMonday)
		w.choose(ada, notices.Choice{})
		// No process ran on Monday.
		w.Set(monday.AddDate(0, 0, 9))
		w.run()
		w.sent("ada"+digestOfMonday, "bob"+digestOfMonday, "bob: bakery.example: your mail in the week to 16 March 2026")
		for _, m := range w.mails() {
			if m.From != `"Bakery" <dmarc@bakery.example>` || len(m.Recipients) != 1 {
				t.Errorf("a mail from %s to %s", m.From, m.Recipients)
			}
		}
		if n := w.count("domainauth_notices", "(due_at IS NOT NULL OR html <> '')"); n != 0 {
			t.Errorf("%d mails are still stored", n)
		}
	})
}

// TestAlerts checks which findings are news, and that each is mailed once, with at most one mail
// on a day.
func TestAlerts(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		ada := w.join("ada")
		w.choose(ada, notices.Choice{Alerts: true})
		w.choose(w.join("bob"), notices.Choice{Digest: true})
		for _, s := range [][2]string{{"own", "unreviewed"}, {"authorised", "unreviewed"}, {"forwarder", "unreviewed"}, {"unknown", "confirmed"}, {"unknown", "rejected"}} {
			w.finding(w.source("no.example", s[0], s[1], 0), "failing_volume", "None.", 0)
		}
		w.finding(w.source("old.example", "unknown", "unreviewed", 0), "failing_volume", "None.", -8)
		w.finding(w.source("signs.example", "unknown", "unreviewed", 0), "unaligned_dkim", "None.", 0)
		over := w.source("over.example", "unknown", "unreviewed", 0)
		w.finding(over, "failing_volume", "None.", -3)
		w.closeFinding(over, -1)
		w.run()
		w.sent()

		both := w.source("new.example", "unknown", "unreviewed", 0)
		w.finding(both, "failing_volume", "It fails.", -7)
		w.finding(both, "new_source", "It is new.", -2)
		// The findings are about to be computed again.
		w.exec(`UPDATE domainauth_domains SET refresh_at = $1, refreshed_at = $2 WHERE org_id = $3`, start.Add(9*time.Minute).UnixMicro(), start.Add(-time.Minute).UnixMicro(), w.org)
		w.run()
		w.sent()
		w.exec(`UPDATE domainauth_domains SET refresh_at = NULL WHERE org_id = $1`, w.org)
		var running sync.WaitGroup
		for _, name := range []string{"two", "three"} {
			running.Go(func() {
				if err := w.process(name).Run(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		running.Wait()
		w.run()
		w.sent("ada" + oneSender)
		if text := w.mails()[0].Text; !strings.Contains(text, "It fails.") || !strings.Contains(text, "It is new.") || strings.Contains(text, "None.") {
			t.Error(text)
		}

		w.finding(w.source("second.example", "spoofing", "unreviewed", 0), "failing_volume", "Second.", 0)
		w.Set(start.Add(11 * time.Hour))
		w.finding(w.source("third.example", "unknown", "unreviewed", 0), "new_source", "Third.", 0)
		w.run()
		w.sent("ada" + oneSender)
		w.Set(start.Add(13 * time.Hour))
		w.run()
		w.Set(start.Add(60 * time.Hour))
		w.run()
		w.sent("ada"+oneSender, "ada: bakery.example: 2 unknown senders use your domain")
	})
}

// TestOnlyMembersAreMailed checks that a former member gets no mail, even if it was decided
// before, and that a member without the permission gets no mail either.
func TestOnlyMembersAreMailed(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		gone, blind, late := w.join("gone"), w.join("blind"), w.join("late")
		for _, id := range []string{gone, blind, late} {
			w.choose(id, notices.Choice{Digest: true, Alerts: true})
		}
		w.must(w.db.Members().RemoveMember(t.Context(), w.org, gone))
		w.must(w.db.Members().SetMember(t.Context(), members.Member{OrgID: w.org, UserID: blind, Role: members.PlainMember}))
		w.finding(w.source("a.example", "unknown", "unreviewed", 0), "new_source", "A.", 0)
		w.must(w.db.HandoverLimits().SetStop(t.Context(), w.org, &handover.Stop{At: start}))
		w.Set(monday.AddDate(0, 0, -1))
		w.run()
		w.Set(monday)
		w.run()
		if n := w.count("domainauth_notices", "due_at IS NOT NULL"); n != 2 {
			t.Errorf("%d mails wait, want an alert and a digest to one member", n)
		}
		w.must(w.db.Members().RemoveMember(t.Context(), w.org, late))
		w.must(w.db.HandoverLimits().SetStop(t.Context(), w.org, nil))
		w.Set(monday.Add(2 * time.Hour))
		w.run()
		w.sent()
		w.Set(monday.AddDate(0, 0, 7))
		w.run()
		if n := w.count("domainauth_subscriptions", "TRUE"); n != 0 {
			t.Errorf("%d subscriptions of persons without access are left", n)
		}
	})
}

// TestWaitsForAccount checks that a mail waits while the account fails, longer each time, leaves
// once when it works again, and is given up after three days.
func TestWaitsForAccount(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.choose(w.join("ada"), notices.Choice{Digest: true})
		w.Set(monday)
		w.fails(&sending.Failure{Kind: sending.NotConnected, Err: errors.New("no account")})
		attempts := func() (n int) {
			w.must(w.db.Reader().QueryRowContext(t.Context(), `SELECT attempts FROM domainauth_notices WHERE org_id = $1 AND due_at IS NOT NULL`, w.org).Scan(&n))
			return n
		}
		for range 8 * 60 {
			w.run()
			w.Set(w.Now().Add(time.Minute))
		}
		if n := attempts(); n != 13 { // at minutes 0, 1, 3, 7, 15, 31, 63, and then each hour
			t.Errorf("%d attempts in eight hours", n)
		}
		w.fails(nil)
		w.sender = ""
		w.Set(w.Now().Add(time.Hour))
		w.run() // without a verified domain
		w.sent()
		w.sender = "no-reply@first.example"
		for range 3 {
			w.Set(w.Now().Add(time.Hour))
			w.run()
		}
		w.sent("ada" + digestOfMonday)

		w.fails(&sending.Failure{Kind: sending.TimedOut, Err: errors.New("no answer")})
		w.Set(monday.AddDate(0, 0, 7))
		w.run()
		w.fails(nil)
		w.Set(w.Now().Add(2 * time.Hour))
		w.run() // the outcome is unknown, so it is not sent again
		w.must(handover.GiveUpWorker(w.db.Handover(), w.db.Orgs().OrgIDs, w.Now).Work(t.Context(), handover.GiveUpArgs{}))
		w.Set(w.Now().Add(2 * time.Hour))
		w.run()
		if n := w.count("domainauth_notices", "due_at IS NOT NULL"); n != 0 {
			t.Errorf("%d mails wait after their outcome", n)
		}
		w.Set(monday.AddDate(0, 0, 14))
		w.must(w.db.HandoverLimits().SetStop(t.Context(), w.org, &handover.Stop{At: start}))
		w.run()
		w.Set(w.Now().Add(73 * time.Hour))
		w.run()
		w.must(w.db.HandoverLimits().SetStop(t.Context(), w.org, nil))
		w.run()
		w.sent("ada" + digestOfMonday)
	})
}

// TestFirstDigest checks that the first digest is that of the next Monday, and that a second
// choice does not move it.
func TestFirstDigest(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for at, want := range map[time.Time]time.Time{
			start:                        monday,
			monday.Add(-1):               monday,
			monday:                       monday.AddDate(0, 0, 7),
			monday.Add(-6 * time.Hour):   monday,
			monday.Add(-6*time.Hour - 1): monday,
			monday.Add(24 * time.Hour).In(time.FixedZone("", -12*3600)): monday.AddDate(0, 0, 7),
		} {
			id := w.join("ada")
			w.Set(at)
			w.choose(id, notices.Choice{Digest: true})
			w.Set(at.AddDate(0, 0, 8))
			w.choose(id, notices.Choice{Digest: true, Alerts: true})
			s, err := w.db.DomainNotices().Subscription(t.Context(), w.org, w.domain.DomainID, id)
			w.must(err)
			if !s.Alerts || s.DigestAt == nil || !s.DigestAt.Equal(want) {
				t.Errorf("digest at %v: %v, want %v", at, s.DigestAt, want)
			}
		}
	})
}

var links = regexp.MustCompile(`(?:https?://|href=")[^\s"<]*`)

// TestGoldenMails compares both mails with their golden files. Names and records of outsiders bring no
// markup, lines or links into them.
func TestGoldenMails(t *testing.T) {
	t.Parallel()
	w := newWorld(t, storagetest.SQLite(t))
	w.choose(w.join("ada"), notices.Choice{Digest: true, Alerts: true})
	own := w.source("Your own servers", "own", "confirmed", -90)
	unknown := w.source("newsletters.example", "unknown", "unreviewed", -2)
	hostile := w.source("<b>Win</b>\r\n\r\nSubject: a\u202e https://evil.example/login?u=me@evil.example bücher.example", "spoofing", "unreviewed", -40)
	for n := -10; n <= 3; n++ {
		w.figures(own, n, 1200, 3, 0)
		w.figures(hostile, n, 0, 40, 11)
	}
	for n := -2; n <= 3; n++ {
		w.figures(unknown, n, 10, 90, 0)
	}
	w.finding(unknown, "new_source", "newsletters.example sent mail in the name of your domain for the first time on 2 March 2026, 100 messages so far. It is not authorized. Decide whether you use this sender.", -2)
	w.finding(hostile, "failing_volume", "357 messages of 357 failed the check of your domain in the last 7 days with reports. They came from //evil.example/x, and nothing shows that they are yours.", -1)
	w.finding(own, "unaligned_spf", "Old.", -30)
	w.closeFinding(own, 1)
	w.change("The policy went from none to quarantine (record of shop.bakery.example)", start)
	w.change("A DKIM key was published: <i>www.evil.example</i>", start.Add(time.Hour))
	w.run()
	w.Set(monday)
	w.run()
	w.sent("ada"+digestOfMonday, "ada: bakery.example: 2 unknown senders use your domain")
	for i, name := range []string{"alert", "digest"} {
		m := w.mails()[i]
		for part, text := range map[string]string{".txt": m.Subject + "\n\n" + m.Text, ".html": m.HTML} {
			golden(t, name+part, text)
			if strings.Contains(text, "<b>") || strings.Contains(text, "<i>") || strings.Contains(text, "evil.example") || strings.Contains(text, "\nSubject:") || strings.Contains(text, "\u202e") {
				t.Errorf("%s%s has the markup, lines or links of outsiders", name, part)
			}
			for _, link := range links.FindAllString(text, -1) {
				parsed, err := url.Parse(strings.TrimPrefix(link, `href="`))
				if err != nil || parsed.Host != "mail.example" {
					t.Errorf("%s%s links to %s", name, part, link)
				}
			}
		}
	}
	if texts := w.mails()[1].Text; !slices.ContainsFunc(strings.Split(texts, "\n"), func(line string) bool {
		return regexp.MustCompile(`^Messages +9,378 +8,778$`).MatchString(line)
	}) {
		t.Error("the digest has other sums")
	}
}
