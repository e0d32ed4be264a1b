package server

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/conformance/ordinary"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/messages"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
	sqlite "modernc.org/sqlite"
)

// attack returns an expensive segment predicate; such a predicate once blocked the calls of
// all organizations. It counts events eight times over ten years, and each count makes 22
// text searches for the word.
func attack(word string) string {
	search := strings.TrimSuffix(strings.Repeat(fmt.Sprintf("subject contains %q or ", word), 22), " or ")
	return strings.TrimSuffix(strings.Repeat("count(open where "+search+" within 3650d) > 9 or ", 8), " or ")
}

// gates maps a word to the gate at which SQLite text searches for that word wait until the
// test opens it. Such a search calls the SQL function replace, which the function init
// below overrides with a version that can wait. The other tests of this process use that
// version too; for texts it returns what SQLite's own does.
var gates sync.Map // word to *gate

type gate struct {
	entered chan struct{}
	opened  chan struct{}
}

func init() {
	sqlite.MustRegisterScalarFunction("replace", 3, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		text, isText := args[0].(string)
		old, hasOld := args[1].(string)
		with, _ := args[2].(string)
		if !isText || !hasOld {
			return nil, nil
		}
		if found, held := gates.Load(old); held {
			g := found.(*gate)
			g.entered <- struct{}{}
			<-g.opened
		}
		if old == "" {
			return text, nil
		}
		return strings.ReplaceAll(text, old, with), nil
	})
}

// blockSearches blocks every search for the word on SQLite, and every read of message
// events on PostgreSQL. The function begun waits until a search is blocked. The function
// release lets all blocked searches continue.
func blockSearches(t *testing.T, p *product.Product, postgres bool, word string) (begun func(), release func()) {
	t.Helper()
	if !postgres {
		g := &gate{entered: make(chan struct{}, 10_000), opened: make(chan struct{})}
		gates.Store(word, g)
		release := sync.OnceFunc(func() { gates.Delete(word); close(g.opened) })
		t.Cleanup(release)
		return func() { <-g.entered }, release
	}
	// The other organization's calls do not read the table message_events, so they do not
	// wait for this lock.
	db := p.SQL(t)
	tx, err := db.BeginTx(context.WithoutCancel(t.Context()), nil)
	if err == nil {
		_, err = tx.ExecContext(t.Context(), "LOCK TABLE message_events IN ACCESS EXCLUSIVE MODE")
	}
	if err != nil {
		t.Fatal(err)
	}
	release = sync.OnceFunc(func() { _ = tx.Rollback() })
	t.Cleanup(release)
	return func() {
		for waiting := 0; waiting == 0; {
			if err := db.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())").Scan(&waiting); err != nil {
				t.Fatal(err)
			}
		}
	}, release
}

// open stores an open event of a message, so that the attack's predicate has an event to
// search.
func (s *faultScene) open(t *testing.T) {
	t.Helper()
	at := s.p.Clock.Now().Add(-time.Hour)
	e := messages.Event{
		ID: core.NewID(), MessageID: messageID, Type: messages.Open, OccurredAt: at, Recipient: "reader@example.com",
		Mail: messages.Mail{From: "shop@example.com", To: []string{"reader@example.com"}, SentAt: at, Subject: "Hello"},
	}
	if _, err := s.p.DB.Messages().RecordEvents(t.Context(), s.p.OrgID, []messages.Event{e}, s.p.Clock.Now()); err != nil {
		t.Fatal(err)
	}
}

// neighbour makes the usual calls of a second organization. They must succeed while the
// first organization makes expensive calls.
type neighbour struct {
	*faultScene
	agent string
}

func (n neighbour) work(t *testing.T, round string) {
	t.Helper()
	rest := func(method, path, body string) answer {
		return ask(t, n.p.HTTP, request{method, n.p.BaseURL + path, n.p.Other.Live.APIKey, body, nil})
	}
	checkDone(t, round+": a lookup", rest("GET", "/v1/contacts/"+n.p.Other.Contact, ""))
	checkDone(t, round+": an upsert", rest("PUT", "/v1/contacts/"+n.p.Other.Contact, `{"attributes":{}}`))
	got := ask(t, n.p.HTTP, toAgent(n.p, n.agent, toolCall("1", "contacts_lookup", `{"email":"`+n.p.Other.Contact+`"}`, "")))
	if checkDone(t, round+": a tool", got); strings.Contains(got.body, `"isError":true`) {
		t.Errorf("%s: a tool: %s", round, got.body)
	}
	checkDone(t, round+": a token", n.askToken(t, n.p.Other.Live))
	n.checkReady(t, "")
}

// TestOneOrganizationStallsNoOther checks that one organization cannot block another. It
// runs 8 and then 24 heavy reads of the first organization that do not finish and use up
// its limit of heavy reads. The calls of the second organization and the readiness check
// must succeed. Light reads of the first organization must succeed even with their most
// expensive arguments. Its further heavy reads must wait or fail with the code overloaded.
func TestOneOrganizationStallsNoOther(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		s := newFaultScene(t, product.Options{Postgres: postgres})
		s.begin(t, "stall")
		s.open(t)
		n := neighbour{s, s.p.TokenWith(t, s.p.Other.Live, s.p.MCPURL)}
		n.work(t, "idle")
		for _, parallel := range []int{8, 24} {
			t.Run(fmt.Sprint(parallel), func(t *testing.T) { s.checkNeighbour(t, n, postgres, parallel) })
		}
	})
}

func (s *faultScene) checkNeighbour(t *testing.T, n neighbour, postgres bool, parallel int) {
	word := fmt.Sprintf("held-%v-%d", postgres, parallel)
	begun, release := blockSearches(t, s.p, postgres, word)
	source, err := json.Marshal(map[string]string{"source": attack(word)})
	if err != nil {
		t.Fatal(err)
	}
	preview := call{operation: "segments_preview_predicate", method: "POST", path: "/v1/segments/preview", body: string(source)}
	var attackers sync.WaitGroup
	held := make(chan answer, parallel)
	for range parallel {
		attackers.Go(func() { held <- s.do(t, preview) })
	}
	begun()
	n.work(t, "under attack")
	if parallel == 8 {
		s.readEverything(t, postgres, func() bool { return len(held) == 0 })
		n.work(t, "under every read")
	}
	release()
	attackers.Wait()
	close(held)
	done := 0
	for got := range held {
		switch {
		case got.status == http.StatusOK:
			done++
		case got.status == http.StatusServiceUnavailable && got.header.Get("Retry-After") != "" && got.content["code"] == "overloaded":
		case got.status == http.StatusUnprocessableEntity: // the preview reached its time limit
		default:
			t.Errorf("the attack is answered %d %s", got.status, got.body)
		}
	}
	if done == 0 {
		t.Error("no preview was answered after all")
	}
}

// worst has the most expensive arguments of read operations. A key is the HTTP method, or
// "tool", then a space and the name of the operation. A read without an entry in worst gets
// its arguments from the variable calls.
var worst = map[string]string{
	"GET contacts_list":               "/v1/contacts?topic=put&subscription_status=OPT_OUT&unsubscribe_all=false&attribute_key=read-ROUND&attribute_value=x&limit=200",
	"GET messages_list":               "/v1/messages?identity=nowhere.example&status=Delivery&template=welcome&limit=200",
	"tool messages_search":            `{"status":"Delivery","template":"welcome","limit":50}`,
	"GET activities_list":             "/v1/activities?name=faults&contact=read-ROUND%40example.com&limit=200",
	"GET inbound_messages_list":       "/v1/inbound/messages?domain=in.example.com&recipient=x%40in.example.com&sender=reader%40example.com&outcome=no_route&limit=200",
	"POST segments_preview_predicate": `{"source":` + quoted(attack("nothing")) + `}`,
	"tool segments_preview_predicate": `{"source":` + quoted(attack("nothing")) + `}`,
	"GET domain_auth_comparison_get":  "/v1/domain-auth/domains/ROUND.reported.example.com/timeline/" + reportedEvent + "/comparison?window_days=30",
	"GET reports_deliverability":      "/v1/reports/deliverability?from=2025-01-01T00:00:00Z",
}

func quoted(text string) string {
	b, _ := json.Marshal(text) // a text always marshals
	return string(b)
}

// readEverything calls every read operation with its most expensive arguments, while the
// attack has used up the limit of heavy reads. Light reads must succeed. A heavy read must
// fail with the code overloaded, or wait until readEverything cancels it.
func (s *faultScene) readEverything(t *testing.T, postgres bool, attacked func() bool) {
	t.Helper()
	reads := map[string]core.OperationInfo{}
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		if info := op.Info(); info.Effect == core.Reads {
			reads[info.Name] = info
		}
	}
	waiting, leave := context.WithCancel(t.Context())
	defer leave()
	var running sync.WaitGroup
	for _, c := range calls {
		info, isRead := reads[c.operation]
		if !isRead {
			continue
		}
		if info.Cost == core.Heavy && !lightThere[c.name()] {
			running.Go(func() {
				if got := s.doUntil(waiting, s.withWorstArguments(c)); attacked() && got.err == nil && got.content["code"] != "overloaded" {
					t.Errorf("%s is declared heavy and did not wait for its turn: %d %.200s", c.name(), got.status, got.body)
				}
			})
			continue
		}
		if postgres && readsEvents[c.operation] {
			continue // the call would wait for the table message_events, which this test has locked
		}
		checkDone(t, c.name()+", by its worst arguments", s.do(t, s.withWorstArguments(c)))
	}
	leave()
	running.Wait()
}

// readsEvents has the light operations that read the table message_events. On
// PostgreSQL the test locks that table, so it does not call these operations.
var readsEvents = map[string]bool{"messages_events": true, "messages_get": true, "messages_diagnose": true, "sending_readiness_check": true}

// lightThere has the routes that are light with any arguments, although the tool of the
// same operation is heavy.
var lightThere = map[string]bool{"GET /v1/undeliverable": true}

// withWorstArguments returns the call with its most expensive arguments, from the table
// worst. It returns the call unchanged if the table has no arguments for it.
func (s *faultScene) withWorstArguments(c call) call {
	arguments, ok := worst[strings.TrimSpace(or(c.method, "tool")+" "+c.operation)]
	switch {
	case !ok:
	case c.method == "GET":
		c.path = arguments
	default:
		c.body = arguments
	}
	return c
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// TestEveryReadHasItsWorstArguments checks the table worst, which has the arguments that
// make a call most expensive. Each entry must belong to a call that the tests make. Each
// operation that is declared heavy must have an entry, unless it counts as heavy even with
// only its required arguments.
func TestEveryReadHasItsWorstArguments(t *testing.T) {
	t.Parallel()
	hasWorst := map[string]bool{}
	for name := range maps.Keys(worst) {
		_, operation, _ := strings.Cut(name, " ")
		hasWorst[operation] = true
		if !slices.ContainsFunc(calls, func(c call) bool { return or(c.method, "tool")+" "+c.operation == name }) {
			t.Errorf("%s is not called", name)
		}
	}
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		info := op.Info()
		if info.Cost == core.Heavy && !hasWorst[info.Name] && !alwaysHeavy(t, op) {
			t.Errorf("%s is heavy with some arguments: add those that make it read the most to worst in faults_attack_test.go", info.Name)
		}
	}
}

// alwaysHeavy reports whether a call of the operation with only its required arguments
// counts as heavy, on at least one surface (REST or MCP).
func alwaysHeavy(t *testing.T, op core.Operation) bool {
	t.Helper()
	return slices.ContainsFunc([]core.Surface{core.REST, core.Agent}, func(s core.Surface) bool {
		arguments, err := ordinary.Arguments(op, s, seeded)
		if err != nil {
			return false
		}
		raw, err := json.Marshal(arguments)
		if err != nil {
			t.Fatal(err)
		}
		in, err := op.Decode(s, raw)
		if err != nil {
			t.Fatalf("%s: %v", op.Info().Name, err)
		}
		return op.CostOf(&core.Call{Surface: s}, in) == core.Heavy
	})
}
