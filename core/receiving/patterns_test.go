package receiving_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/receiving/receivingtest"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestReplacedPatterns replaces the patterns of a domain by some that do not match its minted
// address. Mail is then no longer delivered for the address, and its metadata is in no payload.
func TestReplacedPatterns(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		w.Open(t, hook, "")
		w.Want(t, "inbound_addresses_create", `{"domain":"in.example.com","local_part":"order-1","metadata":{"order":1}}`)
		w.Want(t, "inbound_webhook_replace", `{"domain":"in.example.com","webhook_url":"`+hook+`","allow_patterns":["support"]}`)
		w.Publish(t)
		if w.Receive(t, w.Message(core.NewID()), "order-1@in.example.com") {
			t.Error("the objects of mail that matches no pattern are kept")
		}
		if got := log(t, w)[0].Outcome; got != receiving.NoRoute {
			t.Errorf("outcome %s", got)
		}
		w.Receive(t, w.Message(core.NewID()), "order-1@in.example.com", "support@in.example.com")
		w.Send(t)
		sent := w.Endpoint.Requests()
		if len(sent) != 1 {
			t.Fatalf("%d requests", len(sent))
		}
		if got := body(t, sent[0]); !cmp.Equal(got["recipients"], []any{"support@in.example.com"}) || !cmp.Equal(got["entities"], map[string]any{}) {
			t.Errorf("%v", got)
		}
	})
}

// TestManyAddressesOfARestrictedDomain mints addresses until the list of patterns is full. The
// list that a domain shows can always be saved again.
func TestManyAddressesOfARestrictedDomain(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		w.Want(t, "inbound_domains_create", `{"domain":"in.example.com"}`)
		put := func(n int) string {
			patterns := make([]string, n)
			for i := range patterns {
				patterns[i] = fmt.Sprintf(`"p%d"`, i)
			}
			return `{"domain":"in.example.com","webhook_url":"` + hook + `","allow_patterns":[` + strings.Join(patterns, ",") + `]}`
		}
		w.Want(t, "inbound_webhook_replace", put(999))
		w.Want(t, "inbound_addresses_create", `{"domain":"in.example.com","local_part":"last"}`)
		refused := w.Refuse(t, "inbound_addresses_create", `{"domain":"in.example.com"}`, core.CodeValidationFailed)
		if !strings.Contains(refused.Error(), "1000 entries") {
			t.Error(refused)
		}
		w.Want(t, "inbound_addresses_create", `{"domain":"in.example.com","local_part":"p7"}`) // it has an entry
		w.Want(t, "inbound_webhook_replace", put(1000))
		_ = w.Refuse(t, "inbound_webhook_replace", put(1001), core.CodeValidationFailed)
	})
}

// TestAddressThatAPatternMatches checks that an address gets no entry if mail to it is delivered
// anyway.
func TestAddressThatAPatternMatches(t *testing.T) {
	t.Parallel()
	w := receivingtest.New(t, storagetest.SQLite(t))
	w.Open(t, hook, `"allow_patterns":["a-*"]`)
	w.Want(t, "inbound_addresses_create", `{"domain":"in.example.com"}`)
	got := w.Want(t, "inbound_domains_get", `{"domain":"in.example.com"}`)["webhook"].(map[string]any)["allow_patterns"]
	if !cmp.Equal(got, []any{"a-*"}) {
		t.Errorf("%v", got)
	}
}

// TestMetadataSize checks the limit of 4 KB, in bytes of the JSON text.
func TestMetadataSize(t *testing.T) {
	t.Parallel()
	w := receivingtest.New(t, storagetest.SQLite(t))
	w.Want(t, "inbound_domains_create", `{"domain":"in.example.com"}`)
	const frame = len(`{"x":""}`)
	create := func(text string) string { return `{"domain":"in.example.com","metadata":{"x": "` + text + `"}}` }
	w.Want(t, "inbound_addresses_create", create(strings.Repeat("<", 4096-frame)))
	w.Want(t, "inbound_addresses_create", create(strings.Repeat("ü", (4096-frame)/2)))
	_ = w.Refuse(t, "inbound_addresses_create", create(strings.Repeat("<", 4097-frame)), core.CodeValidationFailed)
}
