package broadcasts_test

import (
	"context"
	"encoding/json"
	"flag"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/broadcasts"
	"github.com/mailhelm/mailhelm/core/composition"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/handover"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/members"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/tags"
	"github.com/mailhelm/mailhelm/core/templates"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/rest/dashboard/actors"
	pages "github.com/mailhelm/mailhelm/rest/dashboard/broadcasts"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/frametest"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

var update = flag.Bool("update", false, "write the golden files again")

// hostile is text as an attacker would write it: HTML, and a character that reverses the
// order of the text after it.
const hostile = "<script>alert(1)</script>\u202egro.elpmaxe"

// office is an organization with broadcasts on a database, and prepared results of the
// operations.
type office struct {
	tags *tags.Tags
	*frametest.Office
	db         *storage.DB
	broadcasts *broadcasts.Broadcasts
	operations *frametest.Operations
	pages      http.Handler
	list       string
	contacts   []string
	approvals  map[string]broadcasts.Approval // by the id of the broadcast
}

func (o *office) Latest(context.Context, string, []string) (map[string]broadcasts.Approval, error) {
	return o.approvals, nil
}

// The interfaces of core/broadcasts that no store implements.

func (o *office) Audience(ctx context.Context, orgID string, kind broadcasts.AudienceKind, ref string) (broadcasts.Audience, error) {
	found, err := o.db.Lists().List(ctx, orgID, ref)
	return broadcasts.Audience{Kind: kind, ID: found.ID, Name: found.Name}, err
}

func (o *office) Topic(context.Context, string, string) (string, error) { return "News", nil }

func (o *office) Template(context.Context, string, string, int) (broadcasts.Template, error) {
	return broadcasts.Template{Subject: "Hi", HTML: "<p>Hi</p>"}, nil
}

func (o *office) IsVerified(_ context.Context, _, address string) (bool, error) {
	return strings.HasSuffix(address, "@acme.example"), nil
}

func (o *office) Default(context.Context, string) (string, error) {
	return "no-reply@acme.example", nil
}
func (o *office) Channel(context.Context, string) (string, error) { return "", nil }
func (o *office) AttributeNames(context.Context, string) ([]string, error) {
	return []string{"first_name"}, nil
}

func (o *office) Links(string, string, string, string) (composition.Links, error) {
	return composition.Links{}, nil
}

// found answers a search for templates.
type found []templates.Template

func (f found) Search(_ context.Context, _, query, _ string, _ int) (core.Page[templates.Template], error) {
	var page core.Page[templates.Template]
	for _, t := range f {
		if strings.Contains(t.Slug, query) {
			page.Items = append(page.Items, t)
		}
	}
	return page, nil
}

func newOffice(t *testing.T) *office {
	t.Helper()
	db := storagetest.SQLite(t)
	o := &office{db: db, approvals: map[string]broadcasts.Approval{}, Office: frametest.NewOffice(
		t, frametest.DatabaseOf(db), frame.Area{Path: pages.Path, Name: "Broadcasts", Needs: members.MayViewCampaigns},
		frame.Area{Path: "/dashboard/contacts", Name: "Contacts", Needs: members.MayViewContacts}, frame.Area{Path: "/dashboard/lists", Name: "Lists", Needs: members.MayViewLists},
		frame.Area{Path: "/dashboard/topics", Name: "Topics", Needs: members.MayViewContacts}, frame.Area{Path: "/dashboard/messages", Name: "Messages", Needs: members.MayViewAnalytics},
		frame.Area{Path: "/dashboard/templates", Name: "Templates", Needs: members.MayViewContent}, frame.Area{Path: "/dashboard/approvals", Name: "Approvals", Needs: members.MayViewCampaigns}, frame.Area{Path: "/dashboard/account", Name: "Sending account", Needs: members.MayViewAccount},
	)}
	o.operations = &frametest.Operations{T: t}
	o.Frame.Operations = o.operations
	o.list, o.tags = core.NewID(), tags.New(tags.Config{Store: db.Tags(), Clock: frametest.Now})
	now := frametest.Now()
	o.Must(db.Topics().ReplaceTopics(t.Context(), o.Org.ID, []sending.Topic{{Name: "news", DisplayName: hostile, Description: hostile, Default: sending.OptIn}}, now))
	o.Must(db.Lists().InsertList(t.Context(), o.Org.ID, lists.List{ID: o.list, Key: "all", Name: hostile, Source: "api", Origin: core.ManagedOrigin, Status: "active", CreatedAt: now, UpdatedAt: now}))
	o.contacts = []string{o.contact("ada@example.com", false), o.contact("ben@example.com", true)}
	o.broadcasts = broadcasts.New(broadcasts.Config{
		Store: db.Broadcasts(), Audience: db.Audiences(), Outcomes: db.Outcomes(), Transactor: db, Audiences: o, Topics: o, Templates: o, Senders: o, Registry: o, Links: o,
		Finish:              func(_ context.Context, _ string, c sending.Template) (sending.Template, error) { return c, nil },
		RefreshSuppressions: func(context.Context, string) error { return nil }, Clock: frametest.Now, Log: slog.New(slog.DiscardHandler),
	})
	room, err := pages.New(o.Frame, pages.Config{
		Broadcasts: o.broadcasts, Store: db.Broadcasts(), Audience: db.Audiences(), Audiences: o, Outcomes: db.Outcomes(), Approvals: o, Topics: db.Topics(), Tags: o.tags,
		Templates: found{{Slug: "welcome", Name: "Welcome", Subject: hostile}, {Slug: "sale", Name: hostile, Subject: "Sale"}},
		Actors:    actors.Actors{Members: db.Members(), Users: db.Users(), Keys: db.Keys(), Clients: db.Clients()},
	})
	o.Must(err)
	o.pages = o.Open(room)
	o.prepare()
	return o
}

// contact puts a contact on the list and returns its id.
func (o *office) contact(email string, out bool) string {
	o.T.Helper()
	now := frametest.Now()
	c := contacts.Contact{
		ID: core.NewID(), Email: email, Status: contacts.Active, UnsubscribeAll: out, Attributes: map[string]any{}, TopicPreferences: []topics.Preference{}, Lists: []lists.Ref{},
		CreatedAt: now, UpdatedAt: now,
	}
	o.Must(o.db.Contacts().InsertContact(o.T.Context(), o.Org.ID, c))
	_, _, err := o.db.ListMembers().ReplaceMembership(o.T.Context(), o.Org.ID, c.ID, []string{o.list}, now)
	o.Must(err)
	return c.ID
}

// prepare sets the results of the operations.
func (o *office) prepare() {
	list := `{"id":` + text(o.list) + `,"key":"all","name":` + text(hostile) + `,"description":"","source":"api","member_count":2,"origin":"managed","status":"active","created_at":"2026-03-01T00:00:00Z","updated_at":"2026-03-01T00:00:00Z"}`
	identity := `{"identity":"acme.example","type":"domain","verification_status":"success","dkim_status":"success","mail_from_domain":null,"created_at":"2026-03-01T00:00:00Z"}`
	o.operations.Results = map[string]string{
		"lists_list":      `{"data":[` + list + `],"pagination":{"has_more":false,"next_cursor":null}}`,
		"segments_list":   `{"data":[],"pagination":{"has_more":false,"next_cursor":null}}`,
		"identities_list": `{"data":[` + identity + `],"pagination":{"has_more":false,"next_cursor":null}}`,
		"broadcasts_preview": `{"audience_size":2,"variables":[{"name":"first_name","by_attribute":1,"by_default":0,"blank":1}],"warnings":[` + text(hostile) + `],"sample":{
			"contact_id":` + text(o.contacts[0]) + `,"email":"ada@example.com","subject":` + text(hostile) + `,"preview_text":"","html":"<p>Dear <b>Ada</b></p>","text":` + text(hostile) + `}}`,
		"broadcasts_test_send": `{"results":[{"recipient":"ada@example.com","status":"sent","message_id":"m-1"},{"recipient":"ben@example.com","status":"failed","error":` + text(hostile) + `}],"sent":1,"total":2}`,
		"broadcasts_send":      `{"id":` + text(core.NewID()) + `,"status":"sending"}`,
		"broadcasts_delete":    `{"deleted":true}`,
	}
	topic := "news"
	o.operations.Confirm = map[string]*guardrails.ConfirmationRequired{"broadcasts_send": {
		Message: "Send " + core.Quote(hostile) + " now to 1 of the 2 members.", Token: "TOKEN", ExpiresAt: frametest.Now().Add(10 * time.Minute),
		Preview: broadcasts.SendPreview{Audience: hostile, AudienceKind: "list", AudienceSize: 2, Mailable: 1, ByAccount: 1, Topic: &topic, From: "no-reply@acme.example", Subject: hostile, Blank: []broadcasts.BlankVariable{{Variable: "first_name", Members: 1}}},
	}}
}

func text(v any) string {
	encoded, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(encoded)
}

// store stores a broadcast after change has completed it, and returns the path of its page.
func (o *office) store(change func(*broadcasts.Broadcast)) string {
	o.T.Helper()
	now := frametest.Now()
	b := broadcasts.Broadcast{
		ID: core.NewID(), Name: hostile, HTML: "<p>Hi {{first_name}}</p>", Subject: hostile, PreviewText: "Look", Topic: "news", State: broadcasts.Draft, Revision: 1,
		Target: broadcasts.Target{AudienceKind: broadcasts.List, AudienceID: o.list}, CreatedAt: now.Add(-time.Hour), UpdatedAt: now.Add(-time.Hour),
		CreatedBy: broadcasts.Author{Kind: string(core.Person), ID: o.User.ID, UserID: o.User.ID},
	}
	if change != nil {
		change(&b)
	}
	o.Must(o.db.Broadcasts().Insert(o.T.Context(), o.Org.ID, b))
	return pages.Path + "/" + b.ID
}

// scheduled makes a broadcast scheduled for the next day.
func scheduled(b *broadcasts.Broadcast) {
	at := frametest.Now().Add(24 * time.Hour)
	b.State, b.ScheduleAt, b.Rate = broadcasts.Scheduled, &at, 60
}

// sending makes a broadcast that sends to 1,000 recipients.
func sendingNow(b *broadcasts.Broadcast) {
	size, at := 1000, frametest.Now().Add(-20*time.Second)
	b.State, b.AudienceSize, b.StartedAt, b.Sent, b.Failed, b.Filtered = broadcasts.Sending, &size, &at, 240, 10, 50
}

// paused makes a broadcast wait for a reason.
func paused(reason broadcasts.PauseReason, then func(*broadcasts.Broadcast)) func(*broadcasts.Broadcast) {
	return func(b *broadcasts.Broadcast) {
		then(b)
		resumes := frametest.Now().Add(time.Hour)
		b.Paused = &broadcasts.Pause{Reason: reason, Since: frametest.Now().Add(-time.Minute), ResumesAt: &resumes}
	}
}

// ended stores a broadcast that has ended with a recipient of each outcome, and returns the
// path of its page.
func (o *office) ended() string {
	o.T.Helper()
	began := frametest.Now().Add(-time.Hour)
	size, ended := 4, began.Add(2*time.Second)
	path := o.store(func(b *broadcasts.Broadcast) {
		b.State, b.AudienceSize, b.StartedAt, b.CompletedAt, b.Sent, b.Failed, b.Filtered = broadcasts.PartiallyFailed, &size, &began, &ended, 1, 1, 2
	})
	id, store := strings.TrimPrefix(path, pages.Path+"/"), o.db.Handover()
	keys := []string{o.contacts[0], o.contacts[1], core.NewID(), core.NewID()}
	var all []handover.Recipient
	for i, key := range keys {
		all = append(all, handover.Recipient{Key: key, CreatedAt: began, Email: []string{"ada@example.com", "ben@example.com", "cy@example.com", hostile + "@example.com"}[i]})
	}
	o.Must(store.Add(o.T.Context(), o.Org.ID, id, all, began))
	all[1].Tier, all[2].Tier = handover.ByAccount, handover.ByTopic
	o.Must(store.Filter(o.T.Context(), o.Org.ID, id, all[1:3], began))
	o.Must(store.Claim(o.T.Context(), o.Org.ID, id, []handover.Recipient{all[0], all[3]}, "process", began.Add(time.Second)))
	o.Must(store.Answer(o.T.Context(), o.Org.ID, id, []handover.Answer{
		{Key: keys[0], CreatedAt: began, Attempt: 1, Verdict: handover.Accepted, MessageID: "m-1"}, {Key: keys[3], CreatedAt: began, Attempt: 1, Verdict: handover.Refused, Reason: hostile},
	}, ended))
	return path
}

// stored returns the broadcast of a page.
func (o *office) stored(path string) broadcasts.Broadcast {
	o.T.Helper()
	b, err := o.db.Broadcasts().Broadcast(context.Background(), o.Org.ID, strings.TrimPrefix(path, pages.Path+"/"))
	o.Must(err)
	return b
}
