package rest_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/outgoing"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/serve/servetest"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bulk"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/topics"
	bulkstore "github.com/mailhelm/mailhelm/storage/bulk"
)

// consent returns what the sending account stores for an address: the opt-out and the
// choices of topics. It returns nil if the account has no contact with that address.
func (a *api) consent(t *testing.T, address string) *sending.Contact {
	t.Helper()
	held, err := a.Simulator.Contact(t.Context(), a.OrgID, address)
	if sending.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return &held
}

// pusher returns the job that writes the consent of bulk writes to the sending account. Its
// configuration is that of the product.
func pusher(p *product.Product) *bulk.Pushes {
	quiet := slog.New(slog.DiscardHandler)
	return bulk.NewPushes(bulk.PushConfig{
		Store: bulkstore.NewPushStore(p.DB.DB), Contacts: p.DB.Contacts(), Account: p.Simulator, Orgs: p.DB.Orgs().OrgIDs,
		List: topics.NewLive(p.Simulator, p.Clock.Now, quiet), Locks: sending.NewKeyedLocks(), Clock: p.Clock.Now, Log: quiet, Wait: outgoing.WaitUntil(p.Clock.Now),
	})
}

// TestWritesGoToTheAccount changes the consent of contacts by routes and tools. When a call
// has been answered, the sending account must have the new consent.
func TestWritesGoToTheAccount(t *testing.T) {
	t.Parallel()
	type choices = map[string]sending.Subscription
	product.Once(t, func(t *testing.T, p *product.Product) {
		a, agent := on(t, p), p.Token(t, p.MCPURL)
		const one, two = "one@example.com", "two@example.com"
		for _, step := range []struct {
			call, path, body string
			status           int
			address          string
			out              bool
			choices          choices
		}{
			{"POST", people, `{"email":"` + one + `","unsubscribe_all":true,"topic_preferences":{"offers":"OPT_IN"}}`, 201, one, true, choices{"offers": sending.OptIn}},
			{"PATCH", people + "/" + one, `{"topic_preferences":{"events":"OPT_OUT"}}`, 200, one, true, choices{"offers": sending.OptIn, "events": sending.OptOut}},
			{"PUT", people + "/" + one, `{"unsubscribe_all":false}`, 200, one, false, choices{}},
			{"PUT", byID + "one", `{"email":"` + one + `","topic_preferences":{"offers":"OPT_OUT"}}`, 200, one, false, choices{"offers": sending.OptOut}},
			{"PUT", byID + "one", `{"email":"` + two + `"}`, 200, two, false, choices{"offers": sending.OptOut}},
			{"tool", "contacts_upsert", `{"external_id":"one","unsubscribe_all":true}`, 200, two, true, choices{"offers": sending.OptOut}},
			{"POST", "/v1/contacts/identify", `{"email":"` + one + `"}`, 200, one, false, choices{}},
		} {
			if step.call == "tool" {
				a.callTool(t, agent, step.path, step.body).want(step.status)
			} else {
				a.do(t, step.call, step.path, step.body).want(step.status)
			}
			held := a.consent(t, step.address)
			if held == nil || held.UnsubscribeAll != step.out || !cmp.Equal(held.Preferences, step.choices) && len(held.Preferences)+len(step.choices) > 0 {
				t.Errorf("%s %s %s: the account holds %+v", step.call, step.path, step.body, held)
			}
			if step.address == two && a.consent(t, one) != nil {
				t.Errorf("%s %s: the account keeps the address that was left", step.call, step.path)
			}
		}
		a.do(t, "DELETE", people+"/"+one, "").want(204)
		if a.consent(t, one) != nil {
			t.Error("the account still has an address that was archived")
		}
		// When an opted-out contact is archived, the sending account keeps it, so that the
		// account still refuses to mail the address.
		a.do(t, "DELETE", byID+"one", "").want(204)
		if held := a.consent(t, two); held == nil || !held.UnsubscribeAll {
			t.Errorf("archiving has taken back an opt-out: %+v", held)
		}
		a.callTool(t, agent, "contacts_upsert", `{"email":"`+one+`"}`)
		a.callTool(t, agent, "contacts_archive", `{"email":"`+one+`"}`)
		if a.consent(t, one) != nil {
			t.Error("the account still has an address that a tool has archived")
		}
	})
}

// synced synchronizes topics and consent between the product and the sending account, and
// returns the report of the sync.
func synced(t *testing.T, p *product.Product) topics.SyncReport {
	t.Helper()
	report, err := servetest.NewSync(p.DB, p.Simulator, p.Clock.Now, slog.New(slog.DiscardHandler)).Run(t.Context(), p.OrgID)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestTheMirrorFollowsTheAccount changes contacts at the sending account itself. A read of
// one contact must show the change at once, and a list after a sync. The sync must add
// contacts that only the account has, and write contacts back that only the product has.
// Its report must count the contacts of each kind.
func TestTheMirrorFollowsTheAccount(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		a.do(t, "POST", people, `{"email":"out@example.com","attributes":{"city":"Sync"}}`).want(201)
		a.do(t, "POST", people, `{"email":"lost@example.com","attributes":{"city":"Sync"},"unsubscribe_all":true}`).want(201)
		a.do(t, "POST", people, `{"email":"gone@example.com"}`).want(201)
		a.do(t, "DELETE", people+"/gone@example.com", "").want(204)
		p.Clock.Advance(time.Minute)
		for _, c := range []sending.Contact{{Email: "out@example.com", UnsubscribeAll: true}, {Email: "stranger@example.com"}} {
			if err := p.Simulator.PutContact(t.Context(), p.OrgID, c); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Simulator.DeleteContact(t.Context(), p.OrgID, "lost@example.com"); err != nil {
			t.Fatal(err)
		}
		if c := a.do(t, "GET", people+"/out@example.com", "").want(200).contact(); !c.UnsubscribeAll {
			t.Error("one contact is not read live")
		}
		optedOut := people + "?attribute_key=city&attribute_value=Sync&unsubscribe_all=true"
		if got := emails(t, a, optedOut); !cmp.Equal(got, []string{"lost@example.com"}) {
			t.Errorf("before the sync %v opted out", got)
		}
		a.do(t, "GET", people+"/stranger@example.com", "").refused(404, core.CodeNotFound)

		p.Clock.Advance(time.Minute)
		did := synced(t, p)
		if did.Topics != 5 || did.Created != 1 || did.Updated != 1 || did.Pushed != 1 || did.Refused+did.Left != 0 {
			t.Errorf("the sync says that it did %+v", did)
		}
		if got := emails(t, a, optedOut); !cmp.Equal(got, []string{"lost@example.com", "out@example.com"}) {
			t.Errorf("after the sync %v opted out", got)
		}
		a.do(t, "GET", people+"/stranger@example.com", "").want(200)
		if held := a.consent(t, "lost@example.com"); held == nil || !held.UnsubscribeAll {
			t.Errorf("what the account had lost came back as %+v", held)
		}
		if c := a.do(t, "GET", people+"/gone@example.com", "").want(200).contact(); c.Status != "archived" || a.consent(t, "gone@example.com") != nil {
			t.Errorf("an archived contact came back: %+v", c)
		}
		p.Clock.Advance(time.Minute)
		if again := synced(t, p); again.Created+again.Updated+again.Pushed+again.Refused+again.Left != 0 {
			t.Errorf("a second sync did %+v", again)
		}
	})
}

// TestTopicsAreAMinuteOldAtMost changes the topics at the sending account itself. GET
// /v1/topics must show the change within a minute, and GET /v1/contact-list only after a
// sync.
func TestTopicsAreAMinuteOldAtMost(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		topics := func() (int, int) {
			var all struct{ Data []any }
			var list struct {
				Topics int `json:"topic_count"`
			}
			a.do(t, "GET", "/v1/topics", "").want(200).decode(&all)
			a.do(t, "GET", "/v1/contact-list", "").want(200).decode(&list)
			return len(all.Data), list.Topics
		}
		expect := func(when string, live, mirrored int) {
			t.Helper()
			if l, m := topics(); l != live || m != mirrored {
				t.Errorf("%s: %d topics, %d of the contact list, want %d and %d", when, l, m, live, mirrored)
			}
		}
		expect("before", 5, 5)
		if err := p.Simulator.ChangeTopics(t.Context(), p.OrgID, func(topics []sending.Topic) ([]sending.Topic, error) {
			return append(topics, sending.Topic{Name: "elsewhere", DisplayName: "Elsewhere", Default: sending.OptIn}), nil
		}); err != nil {
			t.Fatal(err)
		}
		expect("a moment after", 5, 5)
		p.Clock.Advance(time.Minute)
		expect("a minute after", 6, 5)
		if report := synced(t, p); report.Topics != 6 {
			t.Errorf("%+v", report)
		}
		expect("after a sync", 6, 6)
	})
}

// TestBulkWritesReachTheAccountLater checks that a bulk write is answered before the
// sending account is called, and that the account gets the consent later. A bulk write must
// also make an archived contact active again.
func TestBulkWritesReachTheAccountLater(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		a.do(t, "PUT", byID+"back", `{"email":"back@example.com","lists":["newsletter"]}`).want(201)
		a.do(t, "DELETE", byID+"back", "").want(204)
		items, _ := a.follow(t, a.postBulk(t, `{"contacts":[
			{"external_id":"back","unsubscribe_all":true}, {"email":"new@example.com","topic_preferences":{"offers":"OPT_IN"}},
			{"email":"new@example.com","unsubscribe_all":true}, {"email":"new@example.com","unsubscribe_all":false}
		]}`), 50)
		if len(items) != 4 || items[0].Status != "updated" || items[1].Status != "created" || items[3].Status != "updated" {
			t.Errorf("%+v", items)
		}
		c := a.do(t, "GET", people+"/back@example.com", "").want(200).contact()
		if c.Status != "active" || !c.UnsubscribeAll || len(c.Lists) != 0 {
			t.Errorf("came back as %+v", c)
		}
		// The product's own job also writes the consent to the account. If that job is
		// quicker, the loop below writes nothing and finds the consent in the account.
		p.Clock.Advance(time.Minute)
		var back, made *sending.Contact
		product.Await(t, bulkWait, func() error {
			report, err := pusher(p).Push(t.Context(), p.OrgID)
			if err != nil {
				t.Fatal(err)
			}
			if back, made = a.consent(t, "back@example.com"), a.consent(t, "new@example.com"); back == nil || made == nil {
				return fmt.Errorf("the account lacks a contact, the push did %+v", report)
			}
			return nil
		})
		if !back.UnsubscribeAll || made.UnsubscribeAll || made.Preferences["offers"] != sending.OptIn {
			t.Errorf("the account holds %+v and %+v", back, made)
		}
	})
}

// TestLeavingAListIsLogged checks the log of list memberships. It must have one entry for
// each list that a contact leaves, by archiving or by a change of its lists. The entry must
// stay when the list is deleted.
func TestLeavingAListIsLogged(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a, agent := on(t, p), p.Token(t, p.MCPURL)
		for name, leave := range map[string]func(){
			"by-address": func() { a.do(t, "DELETE", people+"/by-address@example.com", "").want(204) },
			"by-id":      func() { a.do(t, "DELETE", byID+"by-id", "").want(204) },
			"by-tool":    func() { a.callTool(t, agent, "contacts_archive", `{"external_id":"by-tool"}`) },
			"by-set":     func() { a.do(t, "PATCH", people+"/by-set@example.com", `{"lists":{"set":[]}}`).want(200) },
		} {
			a.do(t, "POST", "/v1/lists", `{"name":"List `+name+`"}`).want(201)
			c := a.do(t, "PUT", byID+name, `{"email":"`+name+`@example.com","lists":["newsletter","list-`+name+`"]}`).want(201).contact()
			leave()
			leave()
			a.do(t, "DELETE", "/v1/lists/list-"+name, "").want(204)
			lines, err := p.DB.ListMembers().MembershipLog(t.Context(), p.OrgID, nil, 10_000)
			if err != nil {
				t.Fatal(err)
			}
			entered, exited := map[string]int{}, map[string]int{}
			for _, line := range lines {
				switch {
				case line.ContactID != c.ID:
				case line.Entered:
					entered[line.SetID]++
				default:
					exited[line.SetID]++
				}
			}
			if len(entered) != 2 || !cmp.Equal(entered, exited) {
				t.Errorf("%s: entered %v, left %v", name, entered, exited)
			}
		}
	})
}

// TestAddressesAreShownInFull checks that callers with the scope to view contacts get
// unmasked addresses. Callers without that scope must be refused.
func TestAddressesAreShownInFull(t *testing.T) {
	t.Parallel()
	product.Once(t, func(t *testing.T, p *product.Product) {
		a := on(t, p)
		viewer := a.as(a.mint(t, core.ContactsView))
		a.do(t, "PUT", byID+"full", `{"email":"in.full+tag@example.com"}`).want(201)
		if c := viewer.do(t, "GET", people+"/in.full%2Btag%40example.com", "").want(200).contact(); c.Email != "in.full+tag@example.com" {
			t.Errorf("%+v", c)
		}
		if got := viewer.do(t, "GET", people+"?limit=1", "").want(200).page().Data[0].Email; got != "in.full+tag@example.com" {
			t.Errorf("a page shows %q", got)
		}
		nobody := a.as(a.mint(t, core.ListsView, core.TopicsView, core.ContactsManage))
		nobody.do(t, "GET", people, "").refused(403, core.CodeInvalidScope)
		nobody.do(t, "GET", people+"/in.full%2Btag%40example.com", "").refused(403, core.CodeInvalidScope)
	})
}
