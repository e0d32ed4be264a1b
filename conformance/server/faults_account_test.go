package server

import (
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// trouble is a way in which the sending account fails. status and retryAfter (in seconds)
// are the expected answer to calls that need the account. Status zero means that these
// calls succeed.
type trouble struct {
	name       string
	status     int
	retryAfter int
}

// usualWait is the Retry-After, in seconds, of the answer if the failing sending account
// does not say how long to wait.
const usualWait = 5

// TestSimulatedFaults makes all calls during each kind of failure of a simulated sending
// account. After each failure it repeats the calls that use the account.
func TestSimulatedFaults(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		log := new(journal)
		s := newFaultScene(t, product.Options{Postgres: postgres, Log: log})
		for fault, want := range map[simulator.Fault]trouble{
			{Kind: sending.Refused}:                                        {"refused", http.StatusServiceUnavailable, usualWait},
			{Kind: sending.Throttled, RetryAfter: 7 * time.Second}:         {"throttled", http.StatusServiceUnavailable, 7},
			{Kind: sending.Throttled, RetryAfter: 6500 * time.Millisecond}: {"throttled-half", http.StatusServiceUnavailable, 7},
			{Kind: sending.Throttled}:                                      {"throttled-silently", http.StatusServiceUnavailable, usualWait},
			{Kind: sending.TimedOut}:                                       {"timed-out", http.StatusGatewayTimeout, usualWait},
			{Delay: 300 * time.Millisecond}:                                {"slow", 0, 0},
		} {
			t.Run(want.name, func(t *testing.T) {
				s.begin(t, want.name)
				s.p.Simulator.Faults().Set(fault)
				s.checkFailures(t, want)
				s.p.Simulator.Faults().Clear()
				s.checkRecovery(t, want)
			})
		}
		checkFaultLog(t, log.text())
	})
}

// checkFailures makes all calls at once while the sending account fails. Calls that need
// the account must fail with the status and Retry-After in want; the others must succeed.
func (s *faultScene) checkFailures(t *testing.T, want trouble) {
	t.Helper()
	answers := s.askAll(t, func(call) bool { return true })
	problems := map[string]map[string]any{}
	for c, got := range answers {
		switch {
		case got.err != nil:
			t.Errorf("%s: %v", c.name(), got.err)
		case c.manner == refused && want.status != 0:
			checkRefused(t, c, got, want)
			problems[c.name()] = comparable(got.content)
		case got.status >= http.StatusBadRequest || got.isError:
			t.Errorf("%s is answered %d: %s%s", c.name(), got.status, got.body, c.derivedHint())
		default:
			checkPartial(t, c, got, want)
		}
		checkSilent(t, c, got)
	}
	var first map[string]any
	for name, problem := range problems {
		if first == nil {
			first = problem
		}
		if diff := cmp.Diff(first, problem); diff != "" {
			t.Errorf("%s has another problem than the others (- theirs, + its):\n%s", name, diff)
		}
	}
}

// checkRecovery repeats the calls that use the sending account, right after the account
// works again. All must succeed.
func (s *faultScene) checkRecovery(t *testing.T, want trouble) {
	t.Helper()
	if want.status == 0 {
		return
	}
	for c, got := range s.askAll(t, func(c call) bool { return c.manner != untouched }) {
		if got.err != nil || got.status >= http.StatusBadRequest || got.isError {
			t.Errorf("%s, after the account has recovered: %v %d %s", c.name(), got.err, got.status, got.body)
			continue
		}
		checkPartial(t, c, got, trouble{})
	}
}

// heavyAtOnce is the number of calls of heavy operations that askAll makes at the same time. More
// would be refused as overload.
const heavyAtOnce = 8

// askAll makes those calls for which wanted returns true, all at once except for heavy ones, and
// returns the answer to each.
func (s *faultScene) askAll(t *testing.T, wanted func(call) bool) map[call]answer {
	t.Helper()
	var mu sync.Mutex
	var running sync.WaitGroup
	answers, turns := map[call]answer{}, make(chan struct{}, heavyAtOnce)
	for _, c := range calls {
		if !wanted(c) {
			continue
		}
		running.Go(func() {
			if heavyOperations[c.operation] {
				turns <- struct{}{}
				defer func() { <-turns }()
			}
			got := s.do(t, c)
			mu.Lock()
			defer mu.Unlock()
			answers[c] = got
		})
	}
	running.Wait()
	return answers
}

// heavyOperations has the operations of which at least some calls are heavy.
var heavyOperations = func() map[string]bool {
	heavy := map[string]bool{}
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		heavy[op.Info().Name] = op.Info().Cost == core.Heavy
	}
	return heavy
}()

func checkRefused(t *testing.T, c call, got answer, want trouble) {
	t.Helper()
	status := float64(want.status)
	if got.content["code"] != "upstream_unavailable" || got.content["status"] != status || got.content["retry_after"] != float64(want.retryAfter) {
		t.Errorf("%s: %d %s, want %v after %d s", c.name(), got.status, got.body, status, want.retryAfter)
	}
	if text, _ := got.content["next_step"].(string); c.method != "" && text == "" || got.content["detail"] == "" || got.content["request_id"] == "" {
		t.Errorf("%s: no word about what to do: %s", c.name(), got.body)
	}
	if c.method == "" {
		if !got.isError || got.status != http.StatusOK {
			t.Errorf("%s: no tool's error: %d %s", c.name(), got.status, got.body)
		}
		return
	}
	if header := got.header.Get("Retry-After"); got.status != want.status || header != strconv.Itoa(want.retryAfter) {
		t.Errorf("%s: %d with Retry-After %q, want %d with %d", c.name(), got.status, header, want.status, want.retryAfter)
	}
	if kind := got.header.Get("Content-Type"); !strings.HasPrefix(kind, "application/problem+json") {
		t.Errorf("%s: the problem is %s", c.name(), kind)
	}
}

// checkPartial checks answers that can lack data of the sending account: those of
// account_get and messages_diagnose. They must mark the data as missing if and only if the
// account fails.
func checkPartial(t *testing.T, c call, got answer, want trouble) {
	t.Helper()
	switch c.operation {
	case "account_get":
		for _, member := range []string{"aws", "send_quota"} {
			if value, there := got.content[member]; !there || (value == nil) != (want.status != 0) {
				t.Errorf("%s: %s is %v", c.name(), member, value)
			}
		}
		if plan, _ := got.content["plan"].(map[string]any); plan["tier"] == nil {
			t.Errorf("%s: no plan: %s", c.name(), got.body)
		}
	case "messages_diagnose":
		if unread := strings.Contains(got.body, "suppression list could not be read"); unread != (want.status != 0) || got.content["outcome"] != "arrived" {
			t.Errorf("%s: %s", c.name(), got.body)
		}
	}
}

// comparable returns a copy of a problem document without the members that differ between
// requests or between route and tool.
func comparable(problem map[string]any) map[string]any {
	same := maps.Clone(problem)
	for _, member := range []string{"request_id", "message", "hint", "next_step"} {
		delete(same, member)
	}
	return same
}
