package receiving_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/receiving/receivingtest"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestOutcomes checks the outcome of messages by patterns, postures and verdicts.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		spam, virus, unscanned := inbound.Verdicts{Spam: inbound.Fail}, inbound.Verdicts{Virus: inbound.Fail}, inbound.Verdicts{Spam: inbound.ProcessingFailed, Virus: inbound.Gray}
		forged := inbound.Verdicts{SPF: inbound.Fail, DKIM: inbound.Fail, DMARC: inbound.Fail}
		for i, c := range []struct {
			members  string
			verdicts inbound.Verdicts
			to       string
			want     receiving.Outcome
			keep     bool
		}{
			{"", inbound.Verdicts{}, "x", receiving.Received, true},
			{"", spam, "x", receiving.Received, true},
			{"", virus, "x", receiving.Dropped, false},
			{`"virus_posture":"tag"`, virus, "x", receiving.Received, true},
			{`"spam_posture":"drop"`, spam, "x", receiving.Dropped, false},
			{`"spam_posture":"drop"`, unscanned, "x", receiving.Received, true},
			{`"spam_posture":"drop"`, forged, "x", receiving.Received, true},
			{`"allow_patterns":["support-*"]`, inbound.Verdicts{}, "Support-1", receiving.Received, true},
			{`"allow_patterns":["support-*"]`, inbound.Verdicts{}, "sales", receiving.NoRoute, false},
			{`"allow_patterns":["support-*"]`, virus, "sales", receiving.NoRoute, false},
			{`"allow_patterns":["support-*"]`, inbound.Verdicts{}, "minted", receiving.Received, true},
		} {
			w := receivingtest.New(t, db)
			w.Open(t, hook, c.members)
			w.Want(t, "inbound_addresses_create", `{"domain":"in.example.com","local_part":"minted"}`)
			w.Publish(t)
			m := w.Message(core.NewID())
			m.Verdicts = c.verdicts
			keep := w.Receive(t, m, c.to+"@in.example.com")
			all := log(t, w)
			if keep != c.keep || len(all) != 1 || all[0].Outcome != c.want {
				t.Errorf("%d: kept %v, %+v", i, keep, all)
			}
			_, err := db.ReceivedDeliveries().Content(t.Context(), w.OrgID, m.ID)
			if (err == nil) != c.keep {
				t.Errorf("%d: content: %v", i, err)
			}
			w.Want(t, "inbound_domains_delete", `{"domain":"in.example.com"}`)
			w.Publish(t)
		}
	})
}

func TestLogEntry(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		w.Open(t, hook, `"allow_patterns":["support"]`)
		m := w.Message(core.NewID())
		m.Subject = "Ein \x00 Betreff" + strings.Repeat("x", 2000)
		w.Advance(time.Second)
		again := m
		again.RawKey += ".1"
		if !w.Receive(t, m, "Support@in.example.com", "sales@in.example.com") || w.Receive(t, again, "Support@in.example.com", "sales@in.example.com") {
			t.Error("the objects of the first copy are not kept, or those of the second are")
		}
		page := w.Want(t, "inbound_messages_list", `{}`)["data"].([]any)
		if len(page) != 1 {
			t.Fatalf("%d entries", len(page))
		}
		row := page[0].(map[string]any)
		id := row["id"].(string)
		want := map[string]any{
			"id": id, "message_id": m.ID, "domain": "in.example.com", "sender": "bounce@sender.example", "outcome": "received", "test": false,
			"recipients": []any{"Support@in.example.com", "sales@in.example.com"}, "subject": ("Ein  Betreff" + strings.Repeat("x", 2000))[:998], "size": 1234.0,
			"verdicts":    map[string]any{"spf": "PASS", "dkim": "PASS", "dmarc": "PASS", "spam": "PASS", "virus": "PASS"},
			"received_at": "2026-03-01T12:00:00Z", "updated_at": "2026-03-01T12:00:01Z",
		}
		if diff := cmp.Diff(want, row); diff != "" {
			t.Error(diff)
		}
		for _, named := range []string{id, m.ID} {
			got := w.Want(t, "inbound_messages_get", `{"message_id":"`+named+`"}`)
			if got["id"] != id || len(got["states"].([]any)) != 3 {
				t.Errorf("%v", got)
			}
		}
		if got := outcomes(t, w, id); !slices.Equal(got, []receiving.Outcome{receiving.Received, receiving.NoRoute, receiving.Received}) {
			t.Errorf("%v", got)
		}
		w.Send(t)
		if sent := w.Endpoint.Requests(); len(sent) != 1 || sent[0].ID != id || !cmp.Equal(body(t, sent[0])["recipients"], []any{"Support@in.example.com"}) {
			t.Errorf("%v", sent)
		}
		other := receivingtest.New(t, db)
		_ = other.Refuse(t, "inbound_messages_get", `{"message_id":"`+id+`"}`, core.CodeNotFound)
	})
}

// TestLogFilters checks each filter of the log, and its pages.
func TestLogFilters(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		id, _ := w.Open(t, hook, `"allow_patterns":["a*"]`)
		for i, local := range []string{"a1", "a2", "b"} {
			m := w.Message(core.NewID())
			m.Sender = []string{"one@sender.example", "TWO@sender.example", ""}[i]
			w.Receive(t, m, local+"@in.example.com", strings.ToUpper(local)+"x@in.example.com")
			w.Advance(time.Minute)
		}
		for filter, want := range map[string]int{
			``: 3, `"limit":2`: 2, `"outcome":"no_route"`: 1, `"outcome":"RECEIVED"`: 2, `"sender":"two@SENDER.example"`: 1, `"recipient":"A1X@in.example.com"`: 1,
			`"recipient":"a1"`: 0, `"domain":"in.example.com"`: 3, `"domain":"` + id + `"`: 3, `"domain":"other.example.com"`: 0, `"domain":"` + core.NewID() + `"`: 0,
			`"from":"2026-03-01T12:01:00Z"`: 2, `"to":"2026-03-01T12:01:00Z"`: 1, `"from":"2026-03-01T12:01:00Z","to":"2026-03-01T12:02:00Z","outcome":"received"`: 1,
		} {
			if got := w.Want(t, "inbound_messages_list", `{`+filter+`}`)["data"].([]any); len(got) != want {
				t.Errorf("%s: %d, want %d", filter, len(got), want)
			}
		}
		_ = w.Refuse(t, "inbound_messages_list", `{"from":"2026-03-01T12:01:00Z","to":"2026-03-01T12:01:00Z"}`, core.CodeValidationFailed)
		_ = w.Refuse(t, "inbound_messages_list", `{"cursor":"x"}`, core.CodeValidationFailed)
		var seen []any
		for cursor := ""; ; {
			page := w.Want(t, "inbound_messages_list", `{"limit":1,"domain":"in.example.com","cursor":"`+cursor+`"}`)
			for _, row := range page["data"].([]any) {
				seen = append(seen, row.(map[string]any)["received_at"])
			}
			next, more := page["pagination"].(map[string]any)["next_cursor"].(string)
			if !more {
				break
			}
			cursor = next
		}
		if !cmp.Equal(seen, []any{"2026-03-01T12:02:00Z", "2026-03-01T12:01:00Z", "2026-03-01T12:00:00Z"}) {
			t.Errorf("pages: %v", seen)
		}
	})
}

// TestUnroutedDomains checks mail to a domain without a published webhook, which can be delivered
// later, and to a deleted domain, which cannot.
func TestUnroutedDomains(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		w.Open(t, "", "")
		parked := w.Message(core.NewID())
		if !w.Receive(t, parked, "x@in.example.com") {
			t.Error("the objects of parked mail are not kept")
		}
		row := log(t, w)[0]
		if row.Outcome != receiving.UnknownDomain {
			t.Errorf("%+v", row)
		}
		if err := w.Desk.Resend(t.Context(), operator, w.OrgID, row.ID); !core.IsConflict(err) {
			t.Errorf("sent to no webhook: %v", err)
		}
		w.Want(t, "inbound_webhook_replace", `{"domain":"in.example.com","webhook_url":"`+hook+`","allow_patterns":["y"]}`)
		w.Publish(t)
		if err := w.Desk.Resend(t.Context(), operator, w.OrgID, row.ID); !core.IsConflict(err) {
			t.Errorf("sent against the patterns: %v", err)
		}
		w.Want(t, "inbound_webhook_replace", `{"domain":"in.example.com","webhook_url":"`+hook+`"}`)
		w.Publish(t)
		if err := w.Desk.Resend(t.Context(), operator, w.OrgID, row.ID); err != nil {
			t.Error(err)
		}
		w.Send(t)
		if got := log(t, w)[0]; got.Outcome != receiving.Delivered || len(w.Endpoint.Requests()) != 1 {
			t.Errorf("%+v", got)
		}
		w.Want(t, "inbound_domains_delete", `{"domain":"in.example.com"}`)
		late := w.Message(core.NewID())
		if w.Receive(t, late, "x@in.example.com") {
			t.Error("the objects of mail to a deleted domain are kept") // routed before the deletion was published
		}
		w.Publish(t)
		w.Advance(time.Minute)
		if w.Receive(t, w.Message(core.NewID()), "x@in.example.com") {
			t.Error("the objects of mail to a deleted domain are kept")
		}
		if got := log(t, w)[0]; got.Outcome != receiving.UnknownDomain || got.Domain != "in.example.com" {
			t.Errorf("%+v", got)
		}
	})
}

// TestMessagesDeliveredTogether delivers a group with messages that come twice, mail without a
// route, mail to a domain without a webhook and mail to another organization. Each message has the
// result that it would have alone.
func TestMessagesDeliveredTogether(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w, other := receivingtest.New(t, db), receivingtest.New(t, db)
		w.Open(t, hook, `"allow_patterns":["support"]`)
		w.Want(t, "inbound_addresses_create", `{"domain":"in.example.com","local_part":"minted","metadata":{"customer":"7"}}`)
		w.Publish(t)
		other.Want(t, "inbound_domains_create", `{"domain":"elsewhere.example.com"}`)
		other.Names.Publish("MX", "elsewhere.example.com", "10 "+receivingtest.MailHost)
		other.Want(t, "inbound_domains_verify", `{"domain":"elsewhere.example.com"}`)
		other.Publish(t)
		before := w.Message(core.NewID())
		w.Receive(t, before, "support@in.example.com")
		first, second, both := w.Message(core.NewID()), w.Message(core.NewID()), w.Message(core.NewID())
		twice := first
		twice.RawKey += ".1"
		sick := w.Message(core.NewID())
		sick.Verdicts.Virus = inbound.Fail
		elsewhere := w.Message(core.NewID())
		kept := w.Deliver(
			t, w.Routed(t, first, "support@in.example.com"), w.Routed(t, before, "support@in.example.com"), w.Routed(t, second, "sales@in.example.com"),
			other.Routed(t, elsewhere, "support@elsewhere.example.com"), w.Routed(t, twice, "support@in.example.com"),
			w.Routed(t, both, "minted@in.example.com", "support@in.example.com", "sales@in.example.com"), w.Routed(t, sick, "support@in.example.com"),
		)
		if want := []bool{true, false, false, true, false, true, false}; !slices.Equal(kept, want) {
			t.Errorf("kept %v, want %v", kept, want)
		}
		got := map[string]receiving.Outcome{}
		for _, m := range log(t, w) {
			got[m.MessageID] = m.Outcome
		}
		want := map[string]receiving.Outcome{
			before.ID: receiving.Received, first.ID: receiving.Received, second.ID: receiving.NoRoute, both.ID: receiving.Received, sick.ID: receiving.Dropped,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if rows := log(t, other); len(rows) != 1 || rows[0].MessageID != elsewhere.ID || rows[0].Outcome != receiving.UnknownDomain {
			t.Errorf("%+v", rows)
		}
		w.Send(t)
		entities := map[string]any{}
		for _, sent := range w.Endpoint.Requests() {
			payload := body(t, sent)
			entities[payload["message_id"].(string)] = payload["entities"]
		}
		none := map[string]any{}
		minted := map[string]any{"minted": map[string]any{"customer": "7"}}
		if diff := cmp.Diff(map[string]any{before.ID: none, first.ID: none, both.ID: minted}, entities); diff != "" {
			t.Error(diff)
		}
	})
}
