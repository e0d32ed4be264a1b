package contacts_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// emails returns the addresses of the contacts on one page.
func emails(page map[string]any) []string {
	var found []string
	for _, c := range page["data"].([]any) {
		found = append(found, c.(map[string]any)["email"].(string))
	}
	return found
}

func TestPagesAreTheWholeAudience(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		var want []string
		for i := range 7 {
			email := fmt.Sprintf("c%d@example.com", i)
			b.Want(t, "contacts_create", `{"email":"`+email+`"}`)
			want = append(want, email)
			if i%2 == 0 { // two contacts have the same creation time, so their ids decide the order
				b.Advance(time.Second)
			}
		}
		slices.Reverse(want)
		var got []string
		cursor, pages := "", 0
		for {
			page := b.Want(t, "contacts_list", fmt.Sprintf(`{"limit":2,"cursor":%q}`, cursor))
			got = append(got, emails(page)...)
			pagination := page["pagination"].(map[string]any)
			if pages++; pages > 10 {
				t.Fatal("the pages do not end")
			}
			if pagination["has_more"] == false {
				if pagination["next_cursor"] != nil {
					t.Error("a cursor behind the end")
				}
				break
			}
			cursor = pagination["next_cursor"].(string)
		}
		if diff := cmp.Diff(want, got); diff != "" || pages != 4 {
			t.Errorf("%d pages: %s", pages, diff)
		}
		b.Refuse(t, "contacts_list", fmt.Sprintf(`{"limit":2,"cursor":%q,"unsubscribe_all":true}`, cursor), core.CodeValidationFailed)
		b.Refuse(t, "contacts_list", `{"cursor":"rubbish"}`, core.CodeValidationFailed)
	})
}

func TestFilters(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		b := setupOn(t, db)
		for _, c := range []string{
			`{"email":"a@example.com","attributes":{"plan":"pro","age":41,"city":"O'Hare \"x\""},"topic_preferences":{"news":"OPT_OUT"}}`,
			`{"email":"b@example.com","attributes":{"plan":"free"},"topic_preferences":{"offers":"OPT_IN"}}`,
			`{"email":"c@example.com","unsubscribe_all":true}`,
			`{"email":"gone@example.com","attributes":{"plan":"pro"}}`,
		} {
			b.Want(t, "contacts_create", c)
			b.Advance(time.Second)
		}
		b.Want(t, "contacts_archive", `{"email":"gone@example.com"}`)
		// copies the account's topics into the database
		if _, err := b.Sync.Run(t.Context(), b.Org.ID); err != nil {
			t.Fatal(err)
		}
		for filter, want := range map[string][]string{
			`{}`:                    {"c@example.com", "b@example.com", "a@example.com"},
			`{"topic":"news"}`:      {"c@example.com", "b@example.com"},
			`{"topic":"offers"}`:    {"b@example.com"},
			`{"topic":"nope"}`:      nil,
			`{"status":"archived"}`: {"gone@example.com"},
			`{"status":"active"}`:   {"c@example.com", "b@example.com", "a@example.com"},
			`{"status":"archived","attribute_key":"plan","attribute_value":"free"}`:    nil,
			`{"status":"archived","topic":"news","unsubscribe_all":false}`:             {"gone@example.com"},
			`{"topic":"news","subscription_status":"OPT_IN"}`:                          {"c@example.com", "b@example.com"},
			`{"topic":"news","subscription_status":"OPT_OUT"}`:                         {"a@example.com"},
			`{"topic":"offers","subscription_status":"OPT_IN"}`:                        {"b@example.com"},
			`{"topic":"offers","subscription_status":"OPT_OUT"}`:                       {"c@example.com", "a@example.com"},
			`{"unsubscribe_all":true}`:                                                 {"c@example.com"},
			`{"unsubscribe_all":false}`:                                                {"b@example.com", "a@example.com"},
			`{"attribute_key":"plan","attribute_value":"pro"}`:                         {"a@example.com"},
			`{"attribute_key":"city","attribute_value":"O'Hare \"x\""}`:                {"a@example.com"},
			`{"attribute_key":"plan","attribute_value":"%"}`:                           nil,
			`{"attribute_key":"plan","attribute_value":"free","unsubscribe_all":true}`: nil,
			`{"attribute_key":"plan","attribute_value":"pro","topic":"news"}`:          nil,
			`{"attribute_key":"plan","attribute_value":"free","topic":"news"}`:         {"b@example.com"},
			`{"topic":"nope","subscription_status":"OPT_IN"}`:                          nil,
		} {
			if diff := cmp.Diff(want, emails(b.Want(t, "contacts_list", filter))); diff != "" {
				t.Errorf("%s: %s", filter, diff)
			}
		}
		for _, half := range []string{`{"subscription_status":"OPT_IN"}`, `{"attribute_key":"plan"}`, `{"attribute_value":"x"}`, `{"limit":0}`, `{"status":"gone"}`, `{"limit":201}`} {
			b.Refuse(t, "contacts_list", half, core.CodeValidationFailed)
		}
	})
}
