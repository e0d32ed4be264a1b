package channels_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestIdentitiesAreFoundWhateverTheirCase(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.account[w.org] = nil
		w.Account = simulatorOf(t, w.org)
		w.sync(t, w.org)
		got := read[channels.Identity](t, w, "identities_get", `{"identity":"EXAMPLE.com"}`)
		if got.Identity != "Example.com" || got.Type != "domain" || got.Verification != sending.Success || got.DKIM != sending.Success ||
			got.MailFromDomain != nil || !got.CreatedAt.Equal(w.now) || len(got.Records()) != 3 {
			t.Errorf("%+v", got)
		}
		if got := read[channels.Identity](t, w, "identities_get", `{"identity":"News@Example.org"}`); got.Type != "email" || got.DKIM != sending.Pending || len(got.Records()) != 0 {
			t.Errorf("%+v", got)
		}
		d := read[channels.TrackingDomain](t, w, "tracking_domains_get", `{"domain":"EXAMPLE.COM"}`)
		if len(d.Records) != 4 || d.Records[0] != (channels.Record{Type: "CNAME", Name: "example.com", Value: "r.eu-central-1.awstrack.me"}) ||
			d.Status != channels.TrackingPending || d.SSL != "pending" || d.VerifiedAt != nil {
			t.Errorf("%+v", d)
		}
		if dkim := d.Records[1]; len(dkim.Name) != 32+len("._domainkey.example.com") || dkim.Value != dkim.Name[:32]+".dkim.amazonses.com" {
			t.Errorf("%+v", dkim)
		}
		for name, arguments := range map[string]string{
			"channels_get": `{"name":"none"}`, "identities_get": `{"identity":"none"}`, "tracking_domains_get": `{"domain":"none"}`,
		} {
			if _, err := w.call(t, w.org, name, arguments); code(err) != core.CodeNotFound {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// countLooks calls Channels.Verify every 2 minutes for the given time. It returns how often
// Verify has checked the DNS records of click.example.com. The function late returns the
// delay of each call.
func (w *world) countLooks(t *testing.T, during time.Duration, late func() time.Duration) int {
	t.Helper()
	checked := func() time.Time {
		d, err := w.Store.TrackingDomain(t.Context(), w.org, "click.example.com")
		if err != nil {
			t.Fatal(err)
		}
		if d.CheckedAt == nil {
			return time.Time{}
		}
		return *d.CheckedAt
	}
	count, last, turn := 0, checked(), w.now
	for end := turn.Add(during); turn.Before(end); turn = turn.Add(2 * time.Minute) {
		w.now = turn.Add(late())
		if err := w.Verify(t.Context(), w.org); err != nil {
			t.Fatal(err)
		}
		if at := checked(); !at.Equal(last) {
			count, last = count+1, at
		}
	}
	w.now = turn
	return count
}

// tracks gives the organization's account a configuration set for each of the tracking
// domains, and syncs.
func (w *world) tracks(t *testing.T, domains ...string) {
	t.Helper()
	var sets []sending.ConfigurationSet
	for _, domain := range domains {
		sets = append(sets, sending.ConfigurationSet{Name: "tracks " + domain, TrackingDomain: domain})
	}
	w.setAccount(w.org, accountContent{sets: sets})
	w.sync(t, w.org)
}

func (w *world) tracking(t *testing.T) channels.TrackingDomain {
	t.Helper()
	return read[channels.TrackingDomain](t, w, "tracking_domains_get", `{"domain":"click.example.com"}`)
}

func TestATrackingDomainIsVerifiedWhenAllItsRecordsArePublished(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		w.setAccount(w.org, accountContent{
			sets:       []sending.ConfigurationSet{{Name: "main", TrackingDomain: "click.example.com"}},
			identities: []sending.Identity{{Identity: "click.example.com", DKIMTokens: []string{"abc"}}},
		})
		w.sync(t, w.org)
		w.zone["click.example.com"] = channels.RedirectHost("eu-central-1")
		if err := w.VerifyWorker().Work(t.Context(), channels.VerifyArgs{}); err != nil {
			t.Fatal(err)
		}
		if got := w.tracking(t); got.Status != channels.TrackingPending {
			t.Errorf("without the DKIM record: %+v", got)
		}
		w.zone["abc._domainkey.click.example.com"] = "abc.dkim.amazonses.com"
		w.now = w.now.Add(2 * time.Minute)
		if err := w.VerifyWorker().Work(t.Context(), channels.VerifyArgs{}); err != nil {
			t.Fatal(err)
		}
		if got := w.tracking(t); got.Status != channels.TrackingVerified || got.SSL != "active" || got.VerifiedAt == nil || !got.VerifiedAt.Equal(w.now) {
			t.Errorf("%+v", got)
		}
		w.sync(t, w.org)
		if got := w.tracking(t); got.Status != channels.TrackingVerified {
			t.Errorf("a sync took the verification back: %+v", got)
		}
		// Another region requires another record.
		w.account[w.org].overview.Region = "us-east-1"
		w.sync(t, w.org)
		if got := w.tracking(t); got.Status != channels.TrackingPending || got.VerifiedAt != nil || got.Records[0].Value != channels.RedirectHost("us-east-1") {
			t.Errorf("%+v", got)
		}
		w.setAccount(w.org, accountContent{})
		w.sync(t, w.org)
		if _, err := w.call(t, w.org, "tracking_domains_get", `{"domain":"click.example.com"}`); code(err) != core.CodeNotFound {
			t.Errorf("no channel has it: %v", err)
		}
	})
}

// TestLookingSlowsDownAndEnds checks that a tracking domain is checked less often as it
// gets older, and not at all after a week. A late run must not make the next run skip a
// check that is due.
func TestLookingSlowsDownAndEnds(t *testing.T) {
	t.Parallel()
	uneven := rand.New(rand.NewPCG(1, 2))
	for name, late := range map[string]func() time.Duration{
		"on time": func() time.Duration { return 0 },
		"late":    func() time.Duration { return time.Duration(uneven.Int64N(int64(55 * time.Second))) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			looksSlowDownAndEnd(t, late)
		})
	}
}

func looksSlowDownAndEnd(t *testing.T, late func() time.Duration) {
	t.Helper()
	w := newWorld(t, storagetest.SQLite(t))
	w.tracks(t, "click.example.com")
	if n := w.countLooks(t, time.Hour, late); n != 30 {
		t.Errorf("%d looks in the first hour", n)
	}
	if n := w.countLooks(t, 23*time.Hour, late); n != 23*6 {
		t.Errorf("%d looks in the rest of the first day", n)
	}
	w.down = true // name servers that do not answer must not end the checks early
	if n := w.countLooks(t, 6*24*time.Hour-time.Minute, late); n != 6*24 {
		t.Errorf("%d looks in the rest of the week", n)
	}
	w.down = false
	if got := w.tracking(t); got.Status != channels.TrackingPending {
		t.Errorf("%+v", got)
	}
	if n := w.countLooks(t, 2*time.Hour, late); n != 1 && n != 2 {
		t.Errorf("%d looks after a week", n)
	}
	if got := w.tracking(t); got.Status != channels.TrackingFailed || got.SSL != "failed" {
		t.Errorf("%+v", got)
	}
}

// TestAnOutageOfDNSDoesNotFailATrackingDomain checks that a domain that is older than a week
// stays pending while no name server answers, and gets its status from the next answer.
func TestAnOutageOfDNSDoesNotFailATrackingDomain(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		onTime := func() time.Duration { return 0 }
		w.tracks(t, "click.example.com", "gone.example.com")
		w.down = true
		w.now = w.now.Add(7 * 24 * time.Hour)
		if n := w.countLooks(t, 3*time.Hour, onTime); n != 3 {
			t.Errorf("%d looks in 3 hours of an outage", n)
		}
		if got := w.tracking(t); got.Status != channels.TrackingPending || got.SSL != "pending" {
			t.Errorf("in the outage: %+v", got)
		}
		w.down = false
		w.zone["click.example.com"] = channels.RedirectHost("eu-central-1")
		w.countLooks(t, time.Hour, onTime)
		if got := w.tracking(t); got.Status != channels.TrackingVerified {
			t.Errorf("after the outage: %+v", got)
		}
		gone := read[channels.TrackingDomain](t, w, "tracking_domains_get", `{"domain":"gone.example.com"}`)
		if gone.Status != channels.TrackingFailed {
			t.Errorf("after the outage, without its record: %+v", gone)
		}
	})
}
