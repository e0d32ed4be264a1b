package rest_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/contacts"
	"github.com/mailhelm/mailhelm/core/lists"
	"github.com/mailhelm/mailhelm/core/topics"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// withLongTimeout returns a copy of the caller whose requests time out after five minutes.
// The server runs concurrent calls about one contact one after another, so the last call
// waits for all others.
func (a *api) withLongTimeout() *api {
	p, other := *a.Product, *a
	p.HTTP = &http.Client{Transport: a.HTTP.Transport, Timeout: 5 * time.Minute}
	other.Product = &p
	return &other
}

// atOnce makes many calls at the same time. It returns how often each outcome occurred. An
// outcome is the response status, followed by the error code if the call was refused.
func atOnce(t *testing.T, many int, call func(i int) *answer) map[string]int {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	outcomes, start := map[string]int{}, make(chan struct{})
	for i := range many {
		wg.Go(func() {
			<-start
			got := call(i)
			outcome := fmt.Sprint(got.status)
			if got.status >= 400 {
				var p core.Problem
				got.decode(&p)
				outcome += " " + string(p.Code)
			}
			mu.Lock()
			defer mu.Unlock()
			outcomes[outcome]++
		})
	}
	close(start)
	wg.Wait()
	return outcomes
}

// TestAThousandUpsertsAtOnce makes a thousand concurrent upserts with one external id and a
// few addresses. It checks that one call creates the contact, and that the others change it
// or fail with an error code. In the end, the database and the account must each have one
// contact.
func TestAThousandUpsertsAtOnce(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a := on(t, p).withLongTimeout()
		p.AwaitJob(t, topics.SyncArgs{}.Kind()) // it would store addresses that a contact has for a moment
		before, err := p.DB.ContactCount().CountContacts(t.Context(), p.OrgID)
		if err != nil {
			t.Fatal(err)
		}
		address := func(i int) string { return fmt.Sprintf("claim%d@example.com", i%7) }
		outcomes := atOnce(t, enginetest.Share(1000), func(i int) *answer {
			return a.do(t, "PUT", byID+"one", fmt.Sprintf(`{"email":%q,"attributes":{"orders":%d}}`, address(i), i))
		})
		named := []string{"200", "201", "409 contact_claim_race", "409 contact_email_taken", "409 contact_external_id_mismatch"}
		for _, outcome := range slices.Collect(maps.Keys(outcomes)) {
			if !slices.Contains(named, outcome) {
				t.Errorf("%d times %s", outcomes[outcome], outcome)
			}
		}
		if outcomes["201"] != 1 || outcomes["200"] == 0 {
			t.Errorf("outcomes %v", outcomes)
		}
		after, err := p.DB.ContactCount().CountContacts(t.Context(), p.OrgID)
		if err != nil || after != before+1 {
			t.Errorf("%d contacts became %d, %v", before, after, err)
		}
		kept := a.do(t, "PUT", byID+"one", `{}`).want(200).contact()
		for i := range 7 {
			_, err := p.Simulator.Contact(t.Context(), p.OrgID, address(i))
			is := address(i) == kept.Email
			if (err == nil) != is || a.do(t, "GET", people+"/"+address(i), "").status != map[bool]int{true: 200, false: 404}[is] {
				t.Errorf("%s, where the contact has %s: %v", address(i), kept.Email, err)
			}
		}
	})
}

// insertWaits returns when an INSERT into the table waits for a lock of another transaction
// in the PostgreSQL database. Waiting statements of jobs, on other tables, do not count. It
// returns an error if no INSERT waits within a minute.
func insertWaits(ctx context.Context, database *sql.DB, table string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		var n int
		if err := database.QueryRowContext(ctx, `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1`, "INSERT INTO "+table+" %").Scan(&n); err != nil || n > 0 {
			return err
		}
		<-again.C
	}
}

// TestALostClaimHasRetryAfter writes a contact while another transaction has written a
// contact with the same external id and has not committed. It checks that the second write
// waits, and then fails with a time to retry. SQLite has a single writer, so this race
// exists only on PostgreSQL.
func TestALostClaimHasRetryAfter(t *testing.T) {
	t.Parallel()
	a := start(t, product.Options{Postgres: true})
	database := a.SQL(t)
	for name, put := range map[string]func() *answer{
		"upsert": func() *answer { return a.do(t, "PUT", byID+"upsert", `{"email":"upsert@example.com"}`) },
		"identify": func() *answer {
			return a.do(t, "POST", "/v1/contacts/identify", `{"email":"identify@example.com","external_id":"identify"}`)
		},
		"agent": func() *answer {
			return a.callTool(t, a.Token(t, a.MCPURL), "contacts_upsert", `{"email":"agent@example.com","external_id":"agent"}`)
		},
	} {
		lost := make(chan *answer, 1)
		err := a.DB.InTx(t.Context(), func(ctx context.Context) error {
			claimed := contacts.Contact{
				ID: core.NewID(), Email: "other." + name + "@example.com", ExternalID: &name, Status: contacts.Active,
				CreatedAt: a.Clock.Now(), UpdatedAt: a.Clock.Now(),
			}
			if err := a.DB.Contacts().InsertContact(ctx, a.OrgID, claimed); err != nil {
				return err
			}
			go func() { lost <- put() }()
			return insertWaits(ctx, database, "contacts")
		})
		if err != nil {
			t.Fatal(err)
		}
		got := <-lost
		if name == "agent" {
			var refusal struct{ Code core.Code }
			if got.decode(&refusal); refusal.Code != core.CodeContactClaimRace {
				t.Errorf("%s: %s", name, got.body)
			}
			continue
		}
		if p := got.refused(409, core.CodeContactClaimRace); got.header.Get("Retry-After") != "1" || p.RetryAfter != 1 {
			t.Errorf("%s: Retry-After %q, %+v", name, got.header.Get("Retry-After"), p)
		}
	}
	if c := a.do(t, "PUT", byID+"upsert", `{"email":"upsert@example.com"}`).want(200).contact(); c.Email != "upsert@example.com" {
		t.Errorf("once more: %+v", c)
	}
}

// TestListsRace adds a contact to lists, removes it and sets its lists concurrently, by
// REST routes and an MCP tool. It checks that each edit is atomic, and that the membership
// log agrees with the final membership.
func TestListsRace(t *testing.T) {
	t.Parallel()
	product.Each(t, func(t *testing.T, p *product.Product) {
		a, agent := on(t, p).withLongTimeout(), p.Token(t, p.MCPURL)
		const path = people + "/race@example.com"
		contact := a.do(t, "PUT", byID+"race", `{"email":"race@example.com"}`).want(201).contact()
		log := func(after *core.After) []lists.Transition {
			lines, err := p.DB.ListMembers().MembershipLog(t.Context(), p.OrgID, after, 10_000)
			if err != nil {
				t.Fatal(err)
			}
			return lines
		}
		edits := []func(i int) *answer{
			func(int) *answer { return a.do(t, "PATCH", path, `{"lists":{"add":["newsletter"]}}`) },
			func(int) *answer {
				return a.do(t, "PATCH", path, `{"lists":{"remove":["newsletter"],"add":["app-testers"]}}`)
			},
			func(int) *answer { return a.do(t, "PATCH", path, `{"lists":{"set":["tasting-club"]}}`) },
			func(int) *answer { return a.do(t, "PUT", path, `{"lists":["newsletter","tasting-club"]}`) },
			func(int) *answer { return a.do(t, "PUT", byID+"race", `{"lists":[]}`) },
			func(i int) *answer {
				// All calls differ, so that no call is answered with the stored result of
				// another call.
				remove := strings.Repeat(`"newsletter",`, i) + `"app-testers"`
				return a.callTool(t, agent, "contacts_set_list_membership", `{"contact":"race@example.com","add":["tasting-club"],"remove":[`+remove+`]}`)
			},
		}
		outcomes := atOnce(t, 10*len(edits), func(i int) *answer { return edits[i%len(edits)](i) })
		if outcomes["200"] != 10*len(edits) {
			t.Errorf("outcomes %v", outcomes)
		}
		on := map[string]int{}
		for _, line := range log(nil) {
			if line.ContactID != contact.ID {
				continue
			}
			if line.Entered {
				on[line.SetID]++
			} else {
				on[line.SetID]--
			}
			if on[line.SetID] != 0 && on[line.SetID] != 1 {
				t.Errorf("the log tells that list %s was entered twice or left twice", line.SetID)
			}
		}
		var now struct{ Lists []lists.Ref }
		a.do(t, "GET", path, "").want(200).decode(&now)
		for id, times := range on {
			if is := slices.ContainsFunc(now.Lists, func(l lists.Ref) bool { return l.ID == id }); is != (times == 1) {
				t.Errorf("list %s: on it %t, by the log %d", id, is, times)
			}
		}
	})
}

// TestAListGoesWhileContactsJoin deletes a list while a contact is added to it and to
// another list. It checks that the contact is on the other list, and that no call fails
// with a server error.
func TestAListGoesWhileContactsJoin(t *testing.T) {
	t.Parallel()
	a := start(t, product.Options{Postgres: true})
	database := a.SQL(t)
	const path, joinedLists = people + "/joins@example.com", `["goes","newsletter"]`
	a.do(t, "PUT", byID+"joins", `{"email":"joins@example.com"}`).want(201)
	for name, join := range map[string]func() *answer{
		"PATCH":  func() *answer { return a.do(t, "PATCH", path, `{"lists":{"add":`+joinedLists+`}}`) },
		"PUT":    func() *answer { return a.do(t, "PUT", path, `{"lists":`+joinedLists+`}`) },
		"upsert": func() *answer { return a.do(t, "PUT", byID+"joins", `{"lists":`+joinedLists+`}`) },
		"bulk": func() *answer {
			a.follow(t, a.postBulk(t, `{"contacts":[{"external_id":"joins","lists":`+joinedLists+`}]}`), 1)
			return a.do(t, "GET", path, "")
		},
		"agent": func() *answer {
			return a.callTool(t, a.Token(t, a.MCPURL), "contacts_set_list_membership", `{"contact":"joins@example.com","add":`+joinedLists+`}`)
		},
	} {
		var made lists.List
		a.do(t, "POST", "/v1/lists", `{"name":"Goes"}`).want(201).decode(&made)
		joined := make(chan *answer, 1)
		err := a.DB.InTx(t.Context(), func(ctx context.Context) error {
			if err := a.DB.Lists().DeleteList(ctx, a.OrgID, made.ID); err != nil {
				return err
			}
			go func() { joined <- join() }()
			return insertWaits(ctx, database, "list_members")
		})
		if err != nil {
			t.Fatal(err)
		}
		var is struct {
			Code  core.Code
			Lists []lists.Ref
		}
		got := <-joined
		if got.decode(&is); got.status != 200 || is.Code != "" || len(is.Lists) != 1 || is.Lists[0].Key != "newsletter" {
			t.Errorf("%s: %d %s", name, got.status, got.body)
		}
		a.do(t, "PATCH", path, `{"lists":{"set":[]}}`).want(200)
	}
}
