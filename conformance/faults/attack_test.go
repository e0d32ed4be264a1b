package faults

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
	sqlite "modernc.org/sqlite"
)

// attack is a predicate that once stalled all organizations: eight counts of 22 searches
// each over ten years.
func attack(word string) string {
	search := strings.TrimSuffix(strings.Repeat(fmt.Sprintf("subject contains %q or ", word), 22), " or ")
	return strings.TrimSuffix(strings.Repeat("count(open where "+search+" within 3650d) > 9 or ", 8), " or ")
}

// gates stop the databases' searches for a word until the gate is opened. SQLite searches
// with the function replace, which the test replaces by one with the same result.
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

// hold blocks every search for the word; on PostgreSQL, every read of message events.
// begun waits until one search is blocked, and release ends all of them.
func hold(t *testing.T, p *product.Product, postgres bool, word string) (begun func(), release func()) {
	t.Helper()
	if !postgres {
		g := &gate{entered: make(chan struct{}, 10_000), opened: make(chan struct{})}
		gates.Store(word, g)
		release := sync.OnceFunc(func() { gates.Delete(word); close(g.opened) })
		t.Cleanup(release)
		return func() { <-g.entered }, release
	}
	// Nothing but a search, a report or a list reads events of messages.
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

// open records an opened message, which the attack searches.
func (s *scene) open(t *testing.T) {
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

// neighbour is another organization of the product, with what its callers do all day.
type neighbour struct {
	*scene
	agent string
}

func (n neighbour) work(t *testing.T, round string) {
	t.Helper()
	rest := func(method, path, body string) answer {
		r, err := http.NewRequestWithContext(t.Context(), method, n.p.BaseURL+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+n.p.Other.Live.APIKey)
		r.Header.Set("Content-Type", "application/json")
		return n.ask(r)
	}
	checkDone(t, round+": a lookup", rest("GET", "/v1/contacts/"+n.p.Other.Contact, ""))
	checkDone(t, round+": an upsert", rest("PUT", "/v1/contacts/"+n.p.Other.Contact, `{"attributes":{}}`))
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, n.p.MCPURL+"/mcp", strings.NewReader(
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"contacts_lookup","arguments":{"email":"`+n.p.Other.Contact+`"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+n.agent)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("MCP-Protocol-Version", "2025-11-25")
	got := n.ask(r)
	if checkDone(t, round+": a tool", got); strings.Contains(got.body, `"isError":true`) {
		t.Errorf("%s: a tool: %s", round, got.body)
	}
	checkDone(t, round+": a token", n.askToken(t, n.p.Other.Live))
	n.checkReady(t, "")
}

// TestOneOrganizationStallsNoOther: expensive reads of one organization, eight and 24 in
// parallel, hold all their slots and never end. Every call of another organization must
// finish, and the product must stay ready. Reads of the same organization that are
// declared light must finish too, with their worst arguments; reads that are declared
// heavy wait for a slot.
func TestOneOrganizationStallsNoOther(t *testing.T) {
	t.Parallel()
	for _, postgres := range []bool{false, true} {
		t.Run(map[bool]string{false: "sqlite", true: "postgres"}[postgres], func(t *testing.T) {
			t.Parallel()
			s := newScene(t, product.Options{Postgres: postgres})
			s.begin(t, "stall")
			s.open(t)
			n := neighbour{s, s.p.TokenWith(t, s.p.Other.Live, s.p.MCPURL)}
			n.work(t, "idle")
			for _, parallel := range []int{8, 24} {
				t.Run(fmt.Sprint(parallel), func(t *testing.T) { s.stall(t, n, postgres, parallel) })
			}
		})
	}
}

func (s *scene) stall(t *testing.T, n neighbour, postgres bool, parallel int) {
	word := fmt.Sprintf("held-%v-%d", postgres, parallel)
	begun, release := hold(t, s.p, postgres, word)
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
		case got.status == http.StatusServiceUnavailable && got.header.Get("Retry-After") != "" && got.said["code"] == "overloaded":
		case got.status == http.StatusUnprocessableEntity: // had its time
		default:
			t.Errorf("the attack is answered %d %s", got.status, got.body)
		}
	}
	if done == 0 {
		t.Error("no preview was answered after all")
	}
}

// worst has the most expensive arguments of reads, by operation and surface. Reads
// without an entry use those of calls. TestEveryReadHasItsWorstArguments fails for a read
// in neither.
var worst = map[string]string{
	"GET contacts_list":               "/v1/contacts?topic=put&subscription_status=OPT_OUT&unsubscribe_all=false&attribute_key=read-ROUND&attribute_value=x&limit=200",
	"GET messages_list":               "/v1/messages?identity=nowhere.example&status=Delivery&template=welcome&limit=200",
	"tool messages_search":            `{"status":"Delivery","template":"welcome","limit":50}`,
	"GET activities_list":             "/v1/activities?name=faults&contact=read-ROUND%40example.com&limit=200",
	"POST segments_preview_predicate": `{"source":` + quoted(attack("nothing")) + `}`,
	"tool segments_preview_predicate": `{"source":` + quoted(attack("nothing")) + `}`,
	"GET reports_deliverability":      "/v1/reports/deliverability?from=2025-01-01T00:00:00Z",
}

func quoted(text string) string {
	b, _ := json.Marshal(text) // a text always marshals
	return string(b)
}

// readEverything makes every read with its worst arguments. A light one finishes; a heavy
// one, whose slots are held, is turned away or waits, and is given up here.
func (s *scene) readEverything(t *testing.T, postgres bool, attacked func() bool) {
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
				if got := s.doUntil(waiting, s.atWorst(c)); attacked() && got.err == nil && got.said["code"] != "overloaded" {
					t.Errorf("%s is declared heavy and did not wait for its turn: %d %.200s", c.name(), got.status, got.body)
				}
			})
			continue
		}
		if postgres && readsEvents[c.operation] {
			continue // the test itself holds their table
		}
		checkDone(t, c.name()+", by its worst arguments", s.do(t, s.atWorst(c)))
	}
	leave()
	running.Wait()
}

// readsEvents are light reads of the table that the test locks on PostgreSQL.
var readsEvents = map[string]bool{"messages_events": true, "messages_get": true, "messages_diagnose": true, "sending_readiness_check": true}

// lightThere are calls that are light by any arguments, of operations that are heavy on the
// other surface.
var lightThere = map[string]bool{"GET /v1/undeliverable": true}

// atWorst returns the call with its worst arguments.
func (s *scene) atWorst(c call) call {
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

// TestEveryReadHasItsWorstArguments checks that the attack calls every read in worst. A
// heavy read must be in worst, unless it is heavy with no more than its required arguments.
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
			t.Errorf("%s is heavy with some arguments: add those that make it read the most to worst in attack_test.go", info.Name)
		}
	}
}

// alwaysHeavy reports whether a call with no more than the required arguments is heavy on
// a surface.
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
