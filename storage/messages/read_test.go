package messages_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/engine"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

// sentMail returns one event for each of n messages. Every filter matches some of the
// messages and excludes others. Every fourth message has the sending time of the message
// before it.
func sentMail(n int) []messages.Event {
	statuses := []messages.EventType{messages.Send, messages.Delivery, messages.Delivery, messages.Bounce, messages.Open}
	all := make([]messages.Event, n)
	for i := range all {
		at := sentAt.Add(time.Duration(i-i%4/3) * time.Minute)
		all[i] = messages.Event{
			ID: fmt.Sprintf("read-%d", i), MessageID: fmt.Sprintf("m-%03d", i), Type: statuses[i%5], OccurredAt: at.Add(time.Second),
			Recipient: fmt.Sprintf("Person%d@Example.com", i%3),
			Mail: messages.Mail{
				From: fmt.Sprintf("Shop@mail%d.Example.com", i%2), To: []string{fmt.Sprintf("Person%d@Example.com", i%3), "copy@example.com"}, SentAt: at,
				Template: []string{"", "welcome", "offer"}[i%7%3], Channel: []string{"marketing", "default", ""}[i%11%3],
			},
		}
	}
	return all
}

// everyFilter returns filters with every combination of set and unset conditions.
func everyFilter() []messages.Filter {
	var all []messages.Filter
	for bits := range 64 {
		f := messages.Filter{Window: core.Window{From: sentAt.Add(10 * time.Minute), To: sentAt.Add(100 * time.Minute)}}
		if bits&1 > 0 {
			f.Status = messages.Delivery
		}
		if bits&2 > 0 {
			f.Template = "welcome"
		}
		if bits&4 > 0 {
			f.Channel = "default"
		}
		if bits&8 > 0 {
			f.Identity = "mail1.example.com"
		}
		if bits&16 > 0 {
			f.Recipient = "Person1@Example.com"
		}
		if bits&32 > 0 && f.Status != "" {
			f.Status = messages.Bounce
		}
		all = append(all, f)
	}
	return all
}

// fits reports whether the message of the event matches the filter.
func fits(e messages.Event, f messages.Filter) bool {
	m := e.Mail
	return !m.SentAt.Before(f.From) && m.SentAt.Before(f.To) &&
		(f.Status == "" || f.Status == e.Type) && (f.Template == "" || f.Template == m.Template) &&
		(f.Channel == "" || f.Channel == m.Channel) && (f.Recipient == "" || slices.Contains(m.To, f.Recipient)) &&
		(f.Identity == "" || strings.HasSuffix(strings.ToLower(m.From), "@"+f.Identity))
}

func idsThatFit(all []messages.Event, f messages.Filter) []string {
	var found []messages.Event
	for _, e := range all {
		if fits(e, f) {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, func(a, b messages.Event) int {
		return cmp.Or(b.Mail.SentAt.Compare(a.Mail.SentAt), cmp.Compare(b.MessageID, a.MessageID))
	})
	var ids []string
	for _, e := range found {
		ids = append(ids, e.MessageID)
	}
	return ids
}

func walkMessages(ctx context.Context, db *storage.DB, orgID string, f messages.Filter) ([]string, error) {
	var ids []string
	for {
		page, err := db.Messages().Messages(ctx, orgID, f)
		if err != nil || len(page) == 0 || len(page) > f.Limit {
			return ids, err
		}
		for _, m := range page {
			ids = append(ids, m.ID)
		}
		last := page[len(page)-1]
		f.After = &core.After{At: last.SentAt, ID: last.ID}
	}
}

func TestMessagesAreFilteredAndPaged(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		ctx, org, all := t.Context(), core.NewID(), sentMail(120)
		if _, err := db.Messages().RecordEvents(ctx, org, all, sentAt); err != nil {
			t.Fatal(err)
		}
		for _, f := range everyFilter() {
			want := idsThatFit(all, f)
			f.Limit = 7
			got, err := walkMessages(ctx, db, org, f)
			if diff := gocmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%+v: %v (-want +got):\n%s", f, err, diff)
			}
			for limit, expected := range map[int]int{1000: len(want), 5: min(5, len(want))} {
				f.Limit = limit
				if n, err := db.Messages().CountMessages(ctx, org, f); n != expected || err != nil {
					t.Errorf("%+v: counted %d, %v, want %d", f, n, err, expected)
				}
			}
		}
	})
}

func TestRecipientsAreMatchedAsTheyAreSpelled(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		org := core.NewID()
		if _, err := db.Messages().RecordEvents(t.Context(), org, sentMail(9), sentAt); err != nil {
			t.Fatal(err)
		}
		for address, want := range map[string]int{"Person1@Example.com": 3, "copy@example.com": 9, "person1@example.com": 0} {
			f := messages.Filter{Window: core.Window{To: sentAt.Add(time.Hour)}, Recipient: address, Limit: 100}
			if n, err := db.Messages().CountMessages(t.Context(), org, f); n != want || err != nil {
				t.Errorf("%s: %d, %v, want %d", address, n, err, want)
			}
		}
	})
}

// TestPagesOfMessagesWalkAnIndex checks the query plans of SQLite: each page is read from
// an index, without a scan of the whole table and without a sort.
func TestPagesOfMessagesWalkAnIndex(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	walks := map[string]string{
		"messages by time": "messages_newest", "messages by status": "messages_by_status", "messages by rare status": "messages_by_status",
		"messages by template": "messages_by_template", "messages by channel": "messages_by_channel",
		"messages by recipient": "sqlite_autoindex_message_recipients_1",
	}
	for _, s := range engine.Statements() {
		name := strings.TrimPrefix(s.Name(), "count ")
		index, ours := walks[name]
		if !ours {
			continue
		}
		if name == s.Name() {
			walks[name+" seen"] = ""
		}
		plan := storagetest.Plan(t, db, s)
		bounded := strings.Contains(plan, "sent_at)>(?,?) AND (") || strings.Contains(plan, "sent_at>? AND (")
		if !strings.Contains(plan, index) || !bounded || strings.Contains(plan, "TEMP B-TREE") || strings.Contains(plan, "SCAN m") {
			t.Errorf("%s: %s", s.Name(), plan)
		}
	}
	if len(walks) != 12 {
		t.Errorf("statements are missing: %v", walks)
	}
}

// TestPagesByKindsGoToTheIndexOfKinds checks SQLite query plans for filters by several
// columns. They must search the index for each matching kind (combination of channel,
// identity, template and status), without a scan of the whole table.
func TestPagesByKindsGoToTheIndexOfKinds(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	places := map[string]int{"messages by kinds": 3, "count messages by kinds": 1}
	for _, s := range engine.Statements() {
		want, ours := places[s.Name()]
		if !ours {
			continue
		}
		delete(places, s.Name())
		plan := storagetest.Plan(t, db, s)
		exact := strings.Count(plan, "COVERING INDEX messages_by_kind (org_id=? AND channel=? AND identity=? AND template=? AND status=? AND sent_at>? AND (sent_at,id)<(?,?))")
		if exact != want || strings.Contains(plan, "SCAN m;") || !strings.Contains(plan, "message_kinds_1 (org_id=? AND span>? AND span<?)") {
			t.Errorf("%s: %d places in %s", s.Name(), exact, plan)
		}
	}
	if len(places) > 0 {
		t.Errorf("statements are missing: %v", places)
	}
}

// TestPurgeWalksAnIndex checks the query plans of the purge on SQLite. Each statement must
// read the oldest rows first through an index, or find recipients through the index by
// message.
func TestPurgeWalksAnIndex(t *testing.T) {
	t.Parallel()
	db := storagetest.SQLite(t)
	walks := map[string]string{
		"old messages": "messages_newest", "purge message recipients": "message_recipients_of_message", "purge message events": "sqlite_autoindex_message_events_1",
		"purge report marks": "sqlite_autoindex_report_marks_1", "purge message kinds": "sqlite_autoindex_message_kinds_1", "move message recipients": "message_recipients_of_message",
	}
	seen := 0
	for _, s := range engine.Statements() {
		index, ours := walks[s.Name()]
		if !ours {
			continue
		}
		seen++
		plan := storagetest.Plan(t, db, s)
		if !strings.Contains(plan, index) || strings.Contains(plan, "TEMP B-TREE FOR ORDER") || strings.Contains(plan, "SCAN message") || strings.Contains(plan, "SCAN report") {
			t.Errorf("%s: %s", s.Name(), plan)
		}
	}
	if seen != len(walks) {
		t.Errorf("%d of %d statements", seen, len(walks))
	}
}
