package whole

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core/channels"
)

// unsubscribeLink matches the link on the page of a sent mail with which its recipient
// unsubscribes.
var unsubscribeLink = regexp.MustCompile(`<a href="([^"]+)" rel="noreferrer">`)

// TestSentMail sends a test of a broadcast over REST and finds the mail in the dashboard:
// in the list, by a search, and with the content and the link to unsubscribe that work.
func TestSentMail(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		p.AwaitJob(t, channels.SyncArgs{}.Kind()) // it reads from which domain the organization may send
		const recipient = "ada.sink@example.com"
		call := func(path, body string, into any) {
			t.Helper()
			answer := p.Send(t, product.Request{Method: http.MethodPost, URL: p.BaseURL + path, Bearer: p.Live.APIKey, Body: body})
			if err := json.Unmarshal([]byte(answer.Body), into); err != nil || answer.Status >= 300 {
				t.Fatalf("%s: %d %s", path, answer.Status, answer.Body)
			}
		}
		var draft struct{ ID string }
		call("/v1/broadcasts", `{"name":"Tulips","subject":"Tulips for {{first_name}}","html":"<p>Hello {{first_name}}</p>","audience_kind":"list","audience_id":"newsletter","template_data":{"first_name":"Ada"}}`, &draft)
		var sent struct {
			Results []struct {
				MessageID string `json:"message_id"`
				Status    string
			}
		}
		call("/v1/broadcasts/"+draft.ID+"/test", `{"recipients":["`+recipient+`"]}`, &sent)
		if len(sent.Results) != 1 || sent.Results[0].MessageID == "" {
			t.Fatalf("the test send: %+v", sent)
		}

		b := newBrowser(t, p)
		pageOf := func(address string) string {
			t.Helper()
			status, _, text := b.send(http.MethodGet, address, "")
			if status != http.StatusOK {
				t.Fatalf("%s: %d %s", address, status, text)
			}
			return text
		}
		one := "/dashboard/account/mails/" + sent.Results[0].MessageID
		for address, texts := range map[string][]string{
			"/dashboard/account":                         {`href="/dashboard/account/mails"`},
			"/dashboard/account/mails":                   {"[TEST] Tulips for Ada", recipient, one},
			"/dashboard/account/mails?q=TULIPS+for":      {"[TEST] Tulips for Ada"},
			"/dashboard/account/mails?q=no.such.address": {"No recipient and no subject has this text."},
			one:           {"[TEST] Tulips for Ada", recipient, "List-Unsubscribe", "/dashboard/messages/" + sent.Results[0].MessageID, "Hello Ada"},
			one + "/html": {"<p>Hello Ada</p>"},
		} {
			text := pageOf(p.AppURL + address)
			for _, want := range texts {
				if !strings.Contains(text, want) {
					t.Errorf("%s does not have %q: %s", address, want, text)
				}
			}
		}
		link := unsubscribeLink.FindStringSubmatch(pageOf(p.AppURL + one))
		if link == nil || !strings.HasPrefix(link[1], p.AppURL+"/u/") {
			t.Fatalf("the link to unsubscribe is %q", link)
		}
		pageOf(link[1])
	})
}
