package inboxes_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/inboxes"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// TestDelivery delivers messages and reads them by cursor.
func TestDelivery(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		m := w.mint(`{}`)
		if got := w.poll(m.ID, "0"); len(got.Messages) != 0 || got.Cursor != "0" || !got.ExpiresAt.Equal(m.ExpiresAt) {
			t.Errorf("empty inbox: %+v", got)
		}
		for n := 1; n <= 3; n++ {
			if !w.deliver(m.Address, w.message(fmt.Sprintf("m%d", n), "shop@example.com")) {
				t.Errorf("message %d is dropped", n)
			}
		}
		if w.deliver(m.Address, w.message("m2", "shop@example.com")) {
			t.Error("the objects of a repeated message are kept, beside those of the first")
		}
		all := w.poll(m.ID, "0")
		if len(all.Messages) != 3 || all.Cursor != "3" {
			t.Fatalf("%+v", all)
		}
		first := all.Messages[0]
		if first.MessageID != "m1" || first.InboxID != m.ID || first.Cursor != "1" || fmt.Sprint(first.Recipients) != "["+m.Address+"]" || fmt.Sprint(first.Extracted.Codes) != "[483920]" ||
			first.RawURL != fmt.Sprintf("https://objects.test/files/raw/m1?until=%d", m.ExpiresAt.Unix()) || first.Verdicts.SPF != inbound.Pass || *first.Message.TextBody != "483920" {
			t.Errorf("%+v", first)
		}
		if got := w.poll(m.ID, "2"); len(got.Messages) != 1 || got.Messages[0].MessageID != "m3" || got.Cursor != "3" {
			t.Errorf("after 2: %+v", got)
		}
		if got := w.poll(m.ID, "3"); len(got.Messages) != 0 || got.Cursor != "3" {
			t.Errorf("after 3: %+v", got)
		}
		if got := w.read(m.ID); got.MessageCount != 3 || got.DroppedCount != 0 {
			t.Errorf("counts: %+v", got)
		}
	})
}

// TestOpenAttachment opens the attachments of messages, of the own organization and of active
// inboxes only.
func TestOpenAttachment(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		m := w.mint(`{"ttl": 600}`)
		org := w.ann.Org.ID
		for _, id := range []string{"m1", "m2"} {
			one := w.message(id, "shop@example.com")
			one.Attachments = []inbound.File{{Key: "part/" + id + "/0"}, {Key: "part/" + id + "/1"}}
			w.objects.stored["part/"+id+"/0"], w.objects.stored["part/m2/1"] = true, true
			w.deliver(m.Address, one)
		}
		open := func(org, inbox string, position, n int) (string, error) {
			body, err := w.inboxes.OpenAttachment(t.Context(), org, inbox, position, n)
			if err != nil {
				return "", err
			}
			content, err := io.ReadAll(body)
			return string(content), err
		}
		for n, want := range map[[2]int]string{{1, 0}: "part/m1/0", {2, 0}: "part/m2/0", {2, 1}: "part/m2/1"} {
			if got, err := open(org, m.ID, n[0], n[1]); err != nil || got != org+" files "+want {
				t.Errorf("%v: %q, %v", n, got, err)
			}
		}
		for _, tc := range []struct {
			org, inbox  string
			position, n int
		}{
			{core.NewID(), m.ID, 1, 0},
			{org, core.NewID(), 1, 0},
			{org, m.ID, 0, 0},
			{org, m.ID, -1, 0},
			{org, m.ID, 3, 0},
			{org, m.ID, 1, 2},
			{org, m.ID, 1, -1},
			{org, m.ID, 1, 1}, // without an object
		} {
			if got, err := open(tc.org, tc.inbox, tc.position, tc.n); !core.IsNotFound(err) {
				t.Errorf("%+v: %q, %v", tc, got, err)
			}
		}
		w.advance(10 * time.Minute)
		if got, err := open(org, m.ID, 1, 0); core.AsError(err).Code != core.CodeInboxExpired {
			t.Errorf("of an expired inbox: %q, %v", got, err)
		}
	})
}

// TestDropped checks what is dropped and counted, and that nothing of it is stored.
func TestDropped(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.verified = []string{"ann ann@example.com", "shop.example"}
		m := w.mint(`{"allowed_senders": ["ann@example.com", "@shop.example"], "ttl": 60}`)
		dropped := 0
		for n, tc := range []struct {
			from, envelope string
			keep           bool
		}{
			{"ann@example.com", "x@other.example", true},
			{"Ann@EXAMPLE.com", "x@other.example", true},
			{"any@shop.example", "", true},
			{"any@SHOP.example", "", true},
			{"x@other.example", "bounce@shop.example", true},
			{"", "ann@example.com", true},
			{"x@other.example", "x@other.example", false},
			{"any@sub.shop.example", "", false},
			{"any@xshop.example", "", false},
			{"bob@example.com", "", false},
			{"", "", false},
			{"ann@example.com <x@other.example>", "", false},
		} {
			one := w.message(fmt.Sprintf("m%d", n), "a@b.example")
			one.From, one.Sender = &inbound.Address{Address: tc.from, Name: "ann@example.com"}, tc.envelope
			if tc.from == "" {
				one.From = nil
			}
			if got := w.deliver(m.Address, one); got != tc.keep {
				t.Errorf("%+v: %v", tc, got)
			}
			if !tc.keep {
				dropped++
			}
		}
		sick := w.message("sick", "ann@example.com")
		sick.Verdicts = inbound.Verdicts{Virus: inbound.Fail}
		spam := w.message("spam", "ann@example.com")
		spam.Verdicts = inbound.Verdicts{Spam: inbound.Fail, SPF: inbound.Fail, DMARC: inbound.Fail}
		if w.deliver(m.Address, sick) || !w.deliver(m.Address, spam) {
			t.Error("malware is stored, or spam is dropped")
		}
		if got := w.read(m.ID); got.MessageCount != 7 || got.DroppedCount != dropped+1 {
			t.Errorf("counts: %+v", got)
		}
		w.advance(time.Minute)
		if w.deliver(m.Address, w.message("late", "ann@example.com")) {
			t.Error("mail after the end is stored")
		}
		if got := w.read(m.ID); got.DroppedCount != dropped+2 || got.Status != inboxes.Expired {
			t.Errorf("counts: %+v", got)
		}
	})
}

// TestMatch narrows a poll.
func TestMatch(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		m := w.mint(`{}`)
		html := w.message("html", "news@shop.example")
		html.Subject, html.Text, html.HTML = "Weekly news", "", "<p>Große Auswahl</p>"
		w.deliver(m.Address, html)
		w.deliver(m.Address, w.message("code", "login@shop.example"))
		for match, want := range map[string]string{
			`"match_sender": "Login@shop.example"`:                           "code",
			`"match_sender": "@SHOP.example"`:                                "html code",
			`"match_sender": "@example"`:                                     "",
			`"match_subject": "CODE"`:                                        "code",
			`"match_contains": "große"`:                                      "html",
			`"match_contains": "weekly"`:                                     "html",
			`"match_contains": "4839"`:                                       "code",
			`"match_contains": "4839", "match_sender": "news@shop.example"`:  "",
			`"match_subject": "your", "match_sender": "bounce@shop.example"`: "code",
		} {
			got := as[inboxes.Arrived](w, w.ann, "inboxes_messages", `{"id": "`+m.ID+`", `+match+`}`)
			var ids []string
			for _, one := range got.Messages {
				ids = append(ids, one.MessageID)
			}
			if strings.Join(ids, " ") != want || got.Cursor != "2" {
				t.Errorf("%s: %v, cursor %s", match, ids, got.Cursor)
			}
		}
	})
}

// TestPages reads many and large messages page by page.
func TestPages(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		m := w.mint(`{}`)
		const small, large = 120, 20
		for n := range small {
			w.deliver(m.Address, w.message(fmt.Sprint("small", n), "shop@example.com"))
		}
		for n := range large {
			one := w.message(fmt.Sprint("large", n), "shop@example.com")
			one.Text, one.HTML = strings.Repeat("t", inbound.MaxInline), strings.Repeat("h", inbound.MaxInline)
			w.deliver(m.Address, one)
		}
		cursor, seen := "0", 0
		for {
			page := w.poll(m.ID, cursor)
			if len(page.Messages) == 0 {
				break
			}
			if size := len(asJSON(t, page)); size > 7<<20 || len(page.Messages) > 100 {
				t.Errorf("a page has %d bytes and %d messages", size, len(page.Messages))
			}
			seen += len(page.Messages)
			cursor = page.Cursor
		}
		if seen != small+large || cursor != "140" {
			t.Errorf("%d messages, cursor %s", seen, cursor)
		}
		got := as[inboxes.Arrived](w, w.ann, "inboxes_messages", `{"id": "`+m.ID+`", "match_contains": "hhhhh"}`)
		if len(got.Messages) == 0 || got.Messages[0].MessageID != "large0" {
			t.Errorf("a match behind the first page is not found: %+v", got.Cursor)
		}
	})
}

// TestPurge ends inboxes by time and by deletion. Their messages and objects must go, also
// after a failure, and the answers must stay for 30 days.
func TestPurge(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		expiring, deleted, living := w.mint(`{"ttl": 60}`), w.mint(`{}`), w.mint(`{}`)
		for _, m := range []inboxes.MintedView{expiring, deleted, living} {
			for n := range 3 {
				w.deliver(m.Address, w.message(fmt.Sprint(m.ID, n), "shop@example.com"))
			}
		}
		for range 2 { // it may be repeated
			as[core.Deleted](w, w.ann, "inboxes_delete", `{"id": "`+deleted.ID+`"}`)
		}
		if len(w.queue.jobs) != 1 {
			t.Errorf("jobs: %v", w.queue.jobs)
		}
		w.advance(time.Minute)
		for id, want := range map[string]inboxes.Status{expiring.ID: inboxes.Expired, deleted.ID: inboxes.Deleted} {
			_ = w.refused(core.CodeInboxExpired, w.ann, "inboxes_messages", `{"id": "`+id+`"}`)
			if got := w.read(id); got.Status != want || got.MessageCount != 3 {
				t.Errorf("%+v", got)
			}
		}
		work, ctx, org := w.inboxes.PurgeWorker().Work, t.Context(), w.ann.Org.ID
		w.objects.broken = errors.New("no disk")
		if err := work(ctx, inboxes.PurgeArgs{}); !errors.Is(err, w.objects.broken) {
			t.Errorf("a broken store: %v", err)
		}
		w.objects.broken = nil
		for range 2 {
			w.must(work(ctx, inboxes.PurgeArgs{}))
		}
		if len(w.objects.stored) != 3 {
			t.Errorf("objects: %v", w.objects.stored)
		}
		for id, want := range map[string]int{expiring.ID: 0, deleted.ID: 0, living.ID: 3} {
			left, err := db.Inboxes().Received(ctx, org, id, 0, 10, 1<<20)
			if err != nil || len(left) != want {
				t.Errorf("%d messages are left, %v", len(left), err)
			}
		}
		pulled := func(m inboxes.MintedView, want core.Code) {
			t.Helper()
			_, err := w.inboxes.PullMessages(ctx, secretOf(m.PullURL), inboxes.Query{})
			if e := core.AsError(err); e == nil || e.Code != want {
				t.Errorf("pulled: %v, want %s", err, want)
			}
		}
		w.advance(30*24*time.Hour - 2*time.Minute)
		w.must(work(ctx, inboxes.PurgeArgs{}))
		pulled(expiring, core.CodeInboxExpired)
		w.read(deleted.ID)
		w.advance(time.Hour)
		w.must(work(ctx, inboxes.PurgeArgs{}))
		pulled(expiring, core.CodeNotFound)
		for _, m := range []inboxes.MintedView{expiring, deleted, living} {
			_ = w.refused(core.CodeNotFound, w.ann, "inboxes_get", `{"id": "`+m.ID+`"}`)
			if left, err := db.Inboxes().PullTokens(ctx, org, m.ID); err != nil || len(left) != 0 {
				t.Errorf("tokens are left: %v, %v", left, err)
			}
		}
	})
}

// TestBrokenInboxDelaysNoOther has more inboxes that cannot be purged than a batch.
func TestBrokenInboxDelaysNoOther(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.ann.Org.PlatformMode = true
		const broken = 130
		var addresses []string
		w.fill(broken, func(_ int, i *inboxes.Inbox) {
			i.ExpiresAt = i.CreatedAt.Add(time.Minute)
			addresses = append(addresses, i.LocalPart+"@inbox.test")
		})
		for n, address := range addresses {
			w.deliver(address, w.message(fmt.Sprint(n), "shop@example.com"))
		}
		w.advance(time.Second)
		empty := w.mint(`{"ttl": 60, "account_ref": "empty"}`)
		w.advance(time.Hour)
		w.objects.broken = errors.New("no disk")
		work := w.inboxes.PurgeWorker().Work
		if err := work(t.Context(), inboxes.PurgeArgs{}); err == nil {
			t.Error("no error")
		}
		left, err := w.db.Inboxes().Ended(t.Context(), w.clock(), 1000)
		if err != nil || len(left) != broken {
			t.Errorf("%d inboxes are left, %v", len(left), err)
		}
		for _, l := range left {
			if l.InboxID == empty.ID {
				t.Error("the last inbox waits for the others")
			}
		}
	})
}

// TestFull drops mail for an inbox with the maximum number of messages.
func TestFull(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		m := w.mint(`{}`)
		w.must(w.db.Inboxes().CountReceived(t.Context(), []inboxes.Count{{Target: w.target(m.ID), Accepted: inboxes.MaxMessages - 1}}))
		if !w.deliver(m.Address, w.message("last", "shop@example.com")) || w.deliver(m.Address, w.message("more", "shop@example.com")) {
			t.Error("the inbox has another size")
		}
		if got := w.read(m.ID); got.MessageCount != inboxes.MaxMessages || got.DroppedCount != 1 {
			t.Errorf("%+v", got)
		}
	})
}

// TestDeliveryOfManyMessages delivers a group: messages that inboxes have already and that come
// twice, more than a full inbox takes, and mail to an inbox that has ended and to one of another
// organization. Each message has the result that it would have alone.
func TestDeliveryOfManyMessages(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		w.verified = []string{"ann ann@example.com"}
		ended := w.mint(`{"ttl": 60}`)
		w.advance(time.Minute)
		open, full, strict := w.mint(`{}`), w.mint(`{}`), w.mint(`{"allowed_senders": ["ann@example.com"]}`)
		other := newWorld(t, db)
		others := other.mint(`{}`)
		w.must(db.Inboxes().CountReceived(t.Context(), []inboxes.Count{{Target: w.target(full.ID), Accepted: inboxes.MaxMessages - 2}}))
		for _, address := range []string{open.Address, full.Address} {
			w.deliver(address, w.message("old", "shop@example.com"))
		}
		gone := w.routed(open.Address, w.message("gone", "shop@example.com"))
		gone.Routes[0].TargetID = core.NewID()
		sick := w.message("sick", "shop@example.com")
		sick.Verdicts.Virus = inbound.Fail
		var group []inbound.Delivery
		var want []bool
		for _, one := range []struct {
			address, id, from string
			kept              bool
		}{
			{full.Address, "old", "shop@example.com", false}, // takes no place
			{open.Address, "m1", "shop@example.com", true},
			{others.Address, "m1", "shop@example.com", true},
			{open.Address, "old", "shop@example.com", false},
			{full.Address, "last", "shop@example.com", true},
			{open.Address, "m2", "shop@example.com", true},
			{ended.Address, "m1", "shop@example.com", false},
			{strict.Address, "m1", "shop@example.com", false},
			{full.Address, "more", "shop@example.com", false},
			{strict.Address, "m2", "ann@example.com", true},
			{open.Address, "m1", "shop@example.com", false},
			{open.Address, "m3", "shop@example.com", true},
		} {
			m := w.message(one.id, one.from)
			m.RawKey = fmt.Sprint("raw/", len(group)) // each with objects of its own
			group, want = append(group, w.routed(one.address, m)), append(want, one.kept)
		}
		group, want = append(group, gone, w.routed(open.Address, sick)), append(want, false, false)
		if got := w.deliverAll(group...); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("kept\n%v, want\n%v", got, want)
		}
		for id, want := range map[string]string{open.ID: "old 1, m1 2, m2 3, m3 4, ", full.ID: "old 9999, last 10000, ", ended.ID: "", strict.ID: "m2 1, "} {
			stored, err := db.Inboxes().Received(t.Context(), w.ann.Org.ID, id, 0, 10, 1<<20)
			w.must(err)
			got := ""
			for _, s := range stored {
				got += fmt.Sprintf("%s %d, ", s.Message.ID, s.Seq)
			}
			if got != want {
				t.Errorf("stored %s, want %s", got, want)
			}
		}
		for id, want := range map[string][2]int{open.ID: {4, 1}, full.ID: {inboxes.MaxMessages, 1}, ended.ID: {0, 1}, strict.ID: {1, 1}} {
			if got := w.read(id); got.MessageCount != want[0] || got.DroppedCount != want[1] {
				t.Errorf("counts %d and %d, want %v", got.MessageCount, got.DroppedCount, want)
			}
		}
		if got := other.poll(others.ID, "0"); len(got.Messages) != 1 || got.Messages[0].MessageID != "m1" {
			t.Errorf("%+v", got)
		}
	})
}

// TestManyMessagesForOneInbox delivers groups of all sizes up to the largest, from two callers at
// the same time. All messages have consecutive positions.
func TestManyMessagesForOneInbox(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := newWorld(t, db)
		first, second := w.mint(`{}`), w.mint(`{}`)
		sizes := []int{1, 2, 4, 5, 16, 17, 64, 65}
		total := 0
		var callers sync.WaitGroup
		for caller, addresses := range [][]string{{first.Address, second.Address}, {second.Address, first.Address}} {
			var groups [][]inbound.Delivery
			for _, size := range sizes {
				var group []inbound.Delivery
				for n := range size {
					group = append(group, w.routed(addresses[n%2], w.message(fmt.Sprint(caller, size, n), "shop@example.com")))
				}
				groups, total = append(groups, group), total+size
			}
			callers.Go(func() {
				for _, group := range groups {
					err := db.InTx(t.Context(), func(ctx context.Context) error {
						kept, err := w.inboxes.Destination().Deliver(ctx, group)
						if slices.Contains(kept, false) {
							t.Errorf("kept %v", kept)
						}
						return err
					})
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		callers.Wait()
		for _, id := range []string{first.ID, second.ID} {
			stored, err := db.Inboxes().Received(t.Context(), w.ann.Org.ID, id, 0, total, 1<<30)
			w.must(err)
			ids := map[string]bool{}
			for n, s := range stored {
				ids[s.Message.ID] = true
				if s.Seq != n+1 {
					t.Fatalf("position %d after %d", s.Seq, n)
				}
			}
			if got := w.read(id).MessageCount; got != total/2 || len(ids) != got {
				t.Errorf("%d messages counted, %d stored, want %d", got, len(ids), total/2)
			}
		}
	})
}
