package whole

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/servetest"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/channels"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/core/suppression"
	"github.com/mailhelm/mailhelm/core/templates"
)

// Each variable is a kind of name for an object of the sending account, such as a channel's
// name or id. Its first function creates an object of the other organization and returns
// the object's name. Its second function returns the name of an object that does not exist.
var (
	channelName = kind{"channel name", func(t *testing.T, w world, n int) string {
		return w.foreignChannel(t, n).Name
	}, func(n int) string { return fmt.Sprintf("absent-channel-%03d", n) }}
	channelID = kind{"channel id", func(t *testing.T, w world, n int) string {
		found, err := w.p.DB.Channels().Channel(t.Context(), w.p.Other.OrgID, channels.ChannelKey{Name: w.foreignChannel(t, n).Name})
		w.must(t, err)
		return found.ID
	}, func(int) string { return core.NewID() }}
	trackingDomain = kind{"tracking domain", func(t *testing.T, w world, n int) string {
		return w.foreignChannel(t, n).TrackingDomain
	}, func(n int) string { return fmt.Sprintf("click.absent-%03d.example.org", n) }}
	identityName = kind{"identity", func(t *testing.T, w world, n int) string {
		name := fmt.Sprintf("identity-%03d.example.org", n)
		w.follow(t, w.p.Other.OrgID, simulator.Setup{Identities: []sending.Identity{{Identity: name, Verification: sending.Success}}})
		return name
	}, func(n int) string { return fmt.Sprintf("absent-identity-%03d.example.org", n) }}
	templateName = kind{"template name", func(t *testing.T, w world, n int) string {
		name := fmt.Sprintf("foreign-template-%03d", n)
		w.follow(t, w.p.Other.OrgID, simulator.Setup{Templates: []sending.Template{{Name: name, Subject: name, Text: name}}})
		return name
	}, func(n int) string { return fmt.Sprintf("absent-template-%03d", n) }}
	suppressedAddress = kind{"suppressed address", func(t *testing.T, w world, n int) string {
		email := fmt.Sprintf("foreign.suppressed.%03d@example.org", n)
		w.suppress(t, w.p.Other.OrgID, email, "")
		return email
	}, func(n int) string { return fmt.Sprintf("absent.suppressed.%03d@example.org", n) }}
)

func (w world) foreignChannel(t *testing.T, n int) sending.ConfigurationSet {
	t.Helper()
	set := sending.ConfigurationSet{Name: fmt.Sprintf("foreign-channel-%03d", n), TrackingDomain: fmt.Sprintf("click.foreign-%03d.example.org", n)}
	w.follow(t, w.p.Other.OrgID, simulator.Setup{ConfigurationSets: []sending.ConfigurationSet{set}})
	return set
}

// syncsOfTemplates is how often the sync of templates must run to read the contents of all
// templates of a test. One run reads only some of them.
const syncsOfTemplates = 4

// follow adds objects to an organization's sending account and copies them into the
// database, so that a later run of the sync job changes nothing.
func (w world) follow(t *testing.T, orgID string, setup simulator.Setup) {
	t.Helper()
	seeded := w.p.Simulator.Seed(t.Context(), orgID, setup)
	quiet, now := slog.New(slog.DiscardHandler), w.p.Clock.Now
	parts := channels.New(channels.Config{Store: w.p.DB.Channels(), Account: w.p.Simulator, Clock: now, Log: quiet})
	names := templates.New(templates.Config{Store: w.p.DB.Templates(), Managed: w.p.DB.ManagedTemplates(), Account: w.p.Simulator, Clock: now, Log: quiet})
	_, topics := servetest.NewSync(w.p.DB, w.p.Simulator, now, quiet).Run(t.Context(), orgID)
	w.must(t, errors.Join(seeded, parts.Sync(t.Context(), orgID), topics))
	for range syncsOfTemplates {
		w.must(t, names.Sync(t.Context(), orgID))
	}
	unverified, err := w.p.DB.Channels().UnverifiedDomains(t.Context(), orgID)
	w.must(t, err)
	// set the status that the job that checks the DNS records of tracking domains would set
	for _, d := range unverified {
		now := w.p.Clock.Now()
		d.Status, d.CheckedAt, d.VerifiedAt = channels.TrackingVerified, &now, &now
		w.must(t, w.p.DB.Channels().SetTrackingStatus(t.Context(), orgID, d))
	}
}

// suppress adds an address to the account's suppression list, and an entry for it to the
// organization's undeliverable addresses. If why is not "", the entry says that a person
// has excluded the address from them for this reason.
func (w world) suppress(t *testing.T, orgID, email, why string) {
	t.Helper()
	at := w.p.Clock.Now().UTC().Truncate(time.Second)
	w.must(t, w.p.Simulator.Seed(t.Context(), orgID, simulator.Setup{
		Suppressed: []sending.Suppressed{{Email: email, Reason: sending.SuppressedByComplaint, At: at}},
	}))
	entry := suppression.Entry{
		Key: suppression.AddressKey(email), Email: email, Status: suppression.Listed, Reason: suppression.Complaint,
		FirstSeenAt: at, LastSeenAt: at, LastChangedAt: at, EventCount: 1,
	}
	if why != "" {
		entry.Status, entry.ExcludedAt, entry.ExclusionReason, entry.ForgivenAt = suppression.Excluded, &at, why, &at
	}
	w.must(t, w.p.DB.Suppression().SaveEntries(t.Context(), orgID, []suppression.Entry{entry}))
	w.p.Clock.Advance(61 * time.Second) // until the cached suppression list has expired
}

// TestNamesInTheMirrorComeBackAsText uses each hostile test text in the name of a channel,
// a tracking domain and an identity. Each text is also the subject and the text of a
// template, and the reason for which an undeliverable address was excluded. The test checks
// the operations in the list mirrored, and those that read one such object.
func TestNamesInTheMirrorComeBackAsText(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		w := newWorld(t, p)
		texts := storable(t)
		shown := map[string]map[string]bool{}
		var setup simulator.Setup
		for i, h := range texts {
			name := fmt.Sprintf("%03d %s", i, h.truncatedTo(60))
			setup.ConfigurationSets = append(setup.ConfigurationSets, sending.ConfigurationSet{Name: name, TrackingDomain: name})
			setup.Identities = append(setup.Identities, sending.Identity{Identity: name, Verification: sending.Success})
			setup.Templates = append(setup.Templates, sending.Template{Name: fmt.Sprintf("hostile-%03d", i), Subject: h.truncatedTo(longestName), Text: h.text})
		}
		w.follow(t, p.OrgID, setup)
		for i, h := range texts {
			w.suppress(t, p.OrgID, address(i), h.truncatedTo(longestName))
			p.Clock.Advance(-61 * time.Second)
		}
		p.Clock.Advance(61 * time.Second)
		for _, s := range subjects() {
			if s.Effect != core.Reads || strings.Contains(s.route.Path, "{") || !slices.Contains(mirrored, s.Name) {
				continue
			}
			shown[s.name()] = map[string]bool{}
			w.readWhole(t, s, texts, shown[s.name()])
		}
		for i, h := range texts {
			name := fmt.Sprintf("%03d %s", i, h.truncatedTo(60))
			if subject := h.truncatedTo(longestName); !shown["GET /v1/templates"][subject] {
				t.Errorf("GET /v1/templates does not show %s as it is", h)
			}
			for _, of := range []string{"GET /v1/channels", "GET /v1/identities", "GET /v1/tracking-domains"} {
				if !shown[of][name] && !shown[of][strings.ToLower(name)] {
					t.Errorf("%s does not show %s as it is", of, h)
				}
			}
			w.readOne(t, name, i, h)
		}
	})
}

// mirrored has the names of operations that list channels, templates and other objects. The
// test stores these objects with hostile texts in names, subjects or reasons.
var mirrored = []string{
	"channels_list", "identities_list", "tracking_domains_list", "templates_list", "suppressions_list", "undeliverable_list", "sending_readiness_check",
}

// readOne calls each operation that reads one object of the sending account. It passes the
// object's name, and the slug and the email address that the test gave to object number i.
func (w world) readOne(t *testing.T, name string, i int, h hostile) {
	t.Helper()
	byName := map[string]any{"name": name, "domain": name, "slug": fmt.Sprintf("hostile-%03d", i), "identity": name, "email": address(i)}
	for _, s := range subjects() {
		if !slices.Contains([]string{"channels_get", "identities_get", "tracking_domains_get", "templates_get", "suppressions_get", "suppressions_check_address"}, s.Name) {
			continue
		}
		arguments := map[string]any{}
		for _, member := range s.input.Members() {
			arguments[member] = byName[member]
		}
		got := w.own.call(t, s, arguments)
		checkVoice(t, s.name()+" of "+h.String(), got, h)
		if status, _ := got.outcome(); status != 200 && status != 404 && status != 422 {
			t.Errorf("%s of %s: %d %.300s", s.name(), h, got.status, got.body)
		}
	}
}
