package contacts_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/rest/dashboard/contacts"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
)

// names has an API key, an application and a person with hostile names.
type names struct{}

func (names) APIKeysOf(context.Context, string) ([]access.APIKey, error) {
	return []access.APIKey{{ID: "key", Name: "Shop" + hostile}}, nil
}

func (names) ClientsOf(context.Context, string) ([]access.Client, error) {
	return []access.Client{{ID: "client", Name: "Helper"}}, nil
}

func (names) UserByID(_ context.Context, id string) (access.User, error) {
	if id != "grace" {
		return access.User{}, core.NotFound("user")
	}
	return access.User{ID: id, Email: "grace@example.com", Name: "Grace"}, nil
}

// TestConsentSaysSinceWhenAndByWhom checks the words for each source of a choice, for
// choices whose change was not recorded, and for choices that only the sending account has.
func TestConsentSaysSinceWhenAndByWhom(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.operations.Results["contacts_lookup"] = strings.NewReplacer(`"unsubscribe_all":false`, `"unsubscribe_all":true`,
		`{"topic":"offers","subscription_status":"OPT_IN"}`, `{"topic":"news","subscription_status":"OPT_OUT"},{"topic":"offers","subscription_status":"OPT_IN"}`).Replace(results["contacts_lookup"])
	ada := &o.found[0]
	ada.UnsubscribeAll = true
	at := frametest.Now().Add(-3 * time.Hour).UnixMicro()
	for source, want := range map[consent.Source]string{
		"account":                      "in the sending account: by the recipient, or by a program that writes there",
		"command":                      "by the command mailhelm import contacts",
		consent.ByImport("grace"):      "by an import of Grace",
		consent.ByImport(""):           "by an import of a former member",
		"grace/grace":                  "by Grace",
		consent.Source("key/"):         "by the API key Shop",
		"client/grace":                 "by the application Helper for Grace",
		"unknown/grace":                "by an application for Grace",
		consent.Source("unknown/gone"): "by an application for a former member",
	} {
		made := consent.Change{At: at, By: source}
		ada.ConsentChanges = consent.Changes{UnsubscribeAll: &made}
		_, page := frametest.Get(t, o.pages, contacts.Path+"/"+ada.ID)
		if !strings.Contains(page, `Opted out <time datetime="2026-03-12T12:30:00Z" title="12 March 2026, 12:30:00 UTC">3 h ago</time> <bdi>`+want) {
			t.Errorf("%s: the page does not say %q", source, want)
		}
		for _, always := range []string{
			"Opted out <bdi>before Mailhelm recorded such times</bdi>.", // about news
			"Opted in <bdi>in the sending account, after the last sync</bdi>.",
		} {
			if !strings.Contains(page, always) {
				t.Errorf("%s: the page does not say %q", source, always)
			}
		}
		if strings.Contains(page, "<img") {
			t.Errorf("%s: the page shows a name as HTML", source)
		}
	}
	ada.TopicPreferences = []topics.Preference{{Topic: "news", SubscriptionStatus: sending.OptOut}}
	o.operations.Results["contacts_lookup"] = results["contacts_lookup"]
	if _, page := frametest.Get(t, o.pages, contacts.Path+"/"+ada.ID); !strings.Contains(page, "The global opt-out was removed <bdi>in the sending account, after the last sync</bdi>.") {
		t.Error("the page does not say that the global opt-out was removed")
	}
}
