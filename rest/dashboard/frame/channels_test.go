package frame_test

import (
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
)

// TestChannels checks that all pages of channels are read, that a slug in any case names its
// channel, and that a visitor without the permission gets none.
func TestChannels(t *testing.T) {
	t.Parallel()
	record := func(id, slug string) string {
		return `{"id":"` + id + `","name":"set","slug":"` + slug + `","status":"active","tracking_domain":null,"suppression_policy":[],"identities":[],"created_at":"2026-03-01T00:00:00Z"}`
	}
	shop, news := core.NewID(), core.NewID()
	operations := &frametest.Operations{T: t, Results: map[string]string{
		"channels_list":            `{"data":[` + record(shop, "shop") + `],"pagination":{"has_more":true,"next_cursor":"NEXT"}}`,
		"channels_list after NEXT": `{"data":[` + record(news, "news") + `],"pagination":{"has_more":false,"next_cursor":null}}`,
	}}
	f := frame.New(frame.Config{Operations: operations})
	r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
	channels, err := f.Channels(r, people.Visitor{Member: members.Member{Role: members.Owner}})
	if err != nil {
		t.Fatal(err)
	}
	want := []frame.Option{{Value: "shop", Name: "shop"}, {Value: "news", Name: "news", Chosen: true}}
	if diff := cmp.Diff(want, channels.Options("news")); diff != "" {
		t.Errorf("options (-want +got):\n%s", diff)
	}
	for slug, id := range map[string]string{"News": news, "shop": shop, "": ""} {
		if got, err := channels.IDOf(slug); got != id || err != nil {
			t.Errorf("%q: %s, %v", slug, got, err)
		}
	}
	if _, err := channels.IDOf("lost"); err == nil || core.AsError(err).Code != core.CodeValidationFailed {
		t.Errorf("an unknown channel: %v", err)
	}
	if channels, err := f.Channels(r, people.Visitor{}); len(channels) > 0 || err != nil {
		t.Errorf("without permission: %v, %v", channels, err)
	}
}
