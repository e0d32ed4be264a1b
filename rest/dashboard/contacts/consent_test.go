package contacts_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/access"
	"github.com/mailhelm/mailhelm/core/consent"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/rest/dashboard/contacts"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
)

// names has an API key with a hostile name, an application, the member Grace, and Alan, who
// was a member.
type names struct{}

func (names) Member(_ context.Context, _, id string) (members.Member, error) {
	if id != "grace" {
		return members.Member{}, core.NotFound("member")
	}
	return members.Member{}, nil
}

func (names) APIKeysOf(context.Context, string) ([]access.APIKey, error) {
	return []access.APIKey{{ID: "key", Name: "Shop" + hostile}}, nil
}

func (names) ClientsOf(context.Context, string) ([]access.Client, error) {
	return []access.Client{{ID: "client", Name: "Helper"}}, nil
}

func (names) ClientByID(context.Context, string, string) (access.Client, error) {
	return access.Client{}, core.NotFound("client")
}

func (names) UserByID(_ context.Context, id string) (access.User, error) {
	name, is := map[string]string{"grace": "Grace", "alan": "Alan"}[id]
	if !is {
		return access.User{}, core.NotFound("user")
	}
	return access.User{ID: id, Email: id + "@example.com", Name: name}, nil
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
		"recipient":                    "by the recipient, with the unsubscribe link of a mail",
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

// TestConsentHidesNamesFromViewers checks that a viewer sees the kind of a key, of an
// application and of a former member, and that an owner sees their names.
func TestConsentHidesNamesFromViewers(t *testing.T) {
	t.Parallel()
	viewer, _ := members.RoleSetOf("viewer")
	for source, want := range map[consent.Source][2]string{
		"key/":                     {"by the API key Shop", "by an API key</bdi>"},
		"client/grace":             {"by the application Helper for Grace", "by an application for Grace"},
		"alan/alan":                {"by Alan", "by a former member"},
		consent.ByImport("alan"):   {"by an import of Alan", "by an import of a former member"},
		consent.Source("key/alan"): {" for Alan", "by an API key for a former member"},
	} {
		o := newOffice(t)
		ada := &o.found[0]
		ada.UnsubscribeAll = true
		made := consent.ChangeAt(frametest.Now(), source)
		ada.ConsentChanges = consent.Changes{UnsubscribeAll: &made}
		o.operations.Results["contacts_lookup"] = strings.Replace(results["contacts_lookup"], `"unsubscribe_all":false`, `"unsubscribe_all":true`, 1)
		if _, page := frametest.Get(t, o.pages, contacts.Path+"/"+ada.ID); !strings.Contains(page, want[0]) {
			t.Errorf("%s: an owner does not see %q", source, want[0])
		}
		o.Allow(viewer.Permissions...)
		_, page := frametest.Get(t, o.pages, contacts.Path+"/"+ada.ID)
		if !strings.Contains(page, want[1]) || strings.Contains(page, "Shop") || strings.Contains(page, "Helper") || strings.Contains(page, "Alan") {
			t.Errorf("%s: a viewer does not see %q, or sees a name", source, want[1])
		}
	}
}
