package browser_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/browser"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/unsubscribe"
)

// TestSentMailPages finds a mail of the simulated account, opens it, and chooses the width
// of a phone for its HTML.
func TestSentMailPages(t *testing.T) {
	t.Parallel()
	s, tab := newScene(t, product.Options{}), browser.Open(t, browser.Options{})
	s.openSignedIn(tab, "/dashboard/account/mails")
	tab.Expect(http.StatusOK, "appears here")
	tab.Picture("sent_mail_empty")
	identities, err := s.p.Simulator.Identities(t.Context(), s.p.OrgID)
	if err != nil || len(identities) == 0 {
		t.Fatal(identities, err)
	}
	link, err := s.p.UnsubscribeLinks(t).For(s.p.OrgID, unsubscribe.Recipient{})
	if err != nil {
		t.Fatal(err)
	}
	for _, subject := range []string{"[TEST] Tulips for Ada", "Tulips are here"} {
		_, err := s.p.Simulator.Send(t.Context(), s.p.OrgID, sending.Message{
			Envelope: sending.Envelope{
				From: "Shop <hello@" + identities[0].Identity + ">", Test: subject[0] == '[', Headers: link.Headers(), Tags: map[string]string{"campaign": "spring"},
			},
			To: []string{"success+ada@simulator.amazonses.com"},
			Content: sending.Content{
				Subject: subject, Text: "Hello Ada,\n\nthe tulips are here.",
				HTML: `<table width="600" align="center"><tr><td style="background:#246;color:#fff;padding:24px"><h1>Tulips</h1><p>Hello Ada, the tulips are here.</p></td></tr></table>`,
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		s.p.Clock.Advance(time.Second)
	}
	tab.Go(s.p.AppURL + "/dashboard/account/mails")
	tab.Expect(http.StatusOK, "Tulips are here", "[TEST] Tulips for Ada", "success+ada@")
	tab.ExpectReachable()
	tab.Picture("sent_mails")
	tab.Submit("#rows tbody a")
	tab.Expect(http.StatusOK, "Tulips are here", "List-Unsubscribe", "View events")
	tab.ExpectReachable()
	tab.Picture("sent_mail")
	tab.Submit(`.windows li:last-child a`)
	tab.Expect(http.StatusOK, "Tulips are here", "Phone")
	tab.Picture("sent_mail_phone_width")
}
