package sending_test

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	conformance "github.com/mailhelm/mailhelm/conformance/sending"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

func TestSimulator(t *testing.T) {
	t.Parallel()
	conformance.Run(t, func(t *testing.T) conformance.Subject { return newEngine(t).subject() })
}

// engine is a simulated account that stores its data in a file of the test.
type engine struct {
	*simulator.Simulator
	path string
	ticks
}

// ticks is a clock that is one second later at each call. So a test always detects a write that
// sets a new time where it must keep the old one.
type ticks struct{ n atomic.Int64 }

func newEngine(t *testing.T) *engine {
	t.Helper()
	e := &engine{path: filepath.Join(t.TempDir(), "account.db")}
	e.open(t)
	return e
}

func (c *ticks) clock() time.Time {
	return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(c.n.Add(1)) * time.Second)
}

func (e *engine) open(t *testing.T) {
	t.Helper()
	s, err := simulator.Open(e.path, simulator.Options{Clock: e.clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	e.Simulator = s
}

func (e *engine) restart(t *testing.T) {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e.open(t)
}

func (e *engine) seed(t *testing.T, orgID string, setup conformance.Setup) {
	t.Helper()
	if err := e.Seed(t.Context(), orgID, simulator.Setup{
		Account: &setup.Overview, Identities: setup.Identities, ConfigurationSets: setup.ConfigurationSets,
		List: setup.List, Contacts: setup.Contacts, Suppressed: setup.Suppressed, Templates: setup.Templates,
	}); err != nil {
		t.Fatal(err)
	}
}

func (e *engine) fail(_ *testing.T, f sending.Failure) func() {
	e.Faults().Set(simulator.Fault{Kind: f.Kind, RetryAfter: f.RetryAfter})
	return e.Faults().Clear
}

// subject returns the simulator as the adapter under test.
func (e *engine) subject() conformance.Subject {
	return conformance.Subject{
		Account: e.Simulator, Seed: e.seed, Fail: e.fail,
		Restart: func(t *testing.T) sending.Account {
			t.Helper()
			e.restart(t)
			return e.Simulator
		},
	}
}
