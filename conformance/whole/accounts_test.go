package whole

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// namedPerAnswer is the maximum number of channels or identities that a sentence in an
// answer lists.
const namedPerAnswer = 10

// TestNamesOfAccountsComeBackAsText uses each hostile test text as the name of an
// organization, a channel and an identity, and as the region of an account. It checks that
// the answers return each text unchanged, and quote it in sentences.
func TestNamesOfAccountsComeBackAsText(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		w := newWorld(t, p)
		number := 0
		for batch := range slices.Chunk(storable(t), namedPerAnswer) {
			for _, h := range batch {
				number++
				w.checkOrganization(t, h, number)
			}
			w.checkChannels(t, batch, number)
		}
	})
}

// organization stores an organization with this sending account, and returns the
// organization's credentials.
func (w world) organization(t *testing.T, org core.Org, account simulator.Setup) product.Credentials {
	t.Helper()
	org.ID, org.Tier, org.RetentionDays = core.NewID(), "team", 90
	w.must(t, w.p.DB.Orgs().InsertOrg(t.Context(), org))
	w.must(t, w.p.Simulator.Seed(t.Context(), org.ID, account))
	return credentialsWith(t, w.p, org.ID, core.Live, core.Scopes{core.AccountView})
}

func (w world) checkOrganization(t *testing.T, h hostile, number int) {
	t.Helper()
	slug := fmt.Sprintf("%s-%03d", h.truncatedTo(longestName), number)
	held := w.organization(t, core.Org{Name: h.text, Slug: slug}, simulator.Setup{Account: &sending.Overview{Region: h.text}})
	for _, s := range subjects() {
		if s.Name != "account_get" || s.surface != core.REST {
			continue
		}
		got := caller{w.p, "", held.APIKey}.call(t, s, nil)
		checkVoice(t, s.name()+" of "+h.String(), got, h)
		org, _ := got.output()["org"].(map[string]any)
		account, _ := got.output()["aws"].(map[string]any)
		if org["name"] != h.text || org["slug"] != slug || account["region"] != h.text {
			t.Errorf("%s does not show %s as it is: %d %.300s", s.name(), h, got.status, got.body)
		}
	}
}

// checkChannels checks that sentences about channels quote each name, whatever it contains,
// and that a channel can be requested by its name.
func (w world) checkChannels(t *testing.T, batch []hostile, number int) {
	t.Helper()
	var account simulator.Setup
	for _, h := range batch {
		account.ConfigurationSets = append(account.ConfigurationSets, sending.ConfigurationSet{Name: h.text})
		account.Identities = append(account.Identities, sending.Identity{Identity: h.text, Verification: sending.Success})
	}
	held := w.organization(t, core.Org{Name: "Channels", Slug: fmt.Sprintf("channels-%03d", number)}, account)
	of := callerOf(t, w.p, held)
	got := of.callTool(t, "sending_readiness_check", map[string]any{})
	checkVoice(t, "sending_readiness_check", got, batch...)
	for _, check := range []string{"channel", "verified_identity"} {
		detail := detailOf(got, check)
		names := quoted.FindAllString(detail, -1)
		if len(names) == 0 || strings.Count(detail, `"`) != 2*len(names) || check == "channel" && len(names) != len(batch) {
			t.Errorf("%s of %v names %d of %d: %q", check, batch, len(names), len(batch), detail)
		}
		for _, name := range names {
			if n := len([]rune(name)); n > longestQuoted+len(`""`) {
				t.Errorf("%s quotes a name at %d characters: %s", check, n, name)
			}
		}
	}
	for _, h := range batch {
		if len([]rune(h.text)) > 64 {
			continue
		}
		for name, status := range map[string]string{h.text: "pass", "no " + h.truncatedTo(60): "fail"} {
			got := of.callTool(t, "sending_readiness_check", map[string]any{"channel": name})
			checkVoice(t, "sending_readiness_check of the channel "+h.String(), got, batch...)
			if check := checkOf(got, "channel"); check["status"] != status {
				t.Errorf("the channel %q: %v, want %s", name, check, status)
			}
		}
	}
}

// longestQuoted is the number of characters to which a name is shortened in a sentence.
const longestQuoted = 80

func checkOf(got answer, name string) map[string]any {
	checks, _ := got.output()["checks"].([]any)
	for _, check := range checks {
		if of, _ := check.(map[string]any); of["name"] == name {
			return of
		}
	}
	return nil
}

func detailOf(got answer, name string) string {
	detail, _ := checkOf(got, name)["detail"].(string)
	return detail
}
