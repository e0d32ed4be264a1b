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
	conformance.Run(t, newSimulator)
}

// newSimulator has a clock that moves with every look, so that a write which
// should have changed nothing cannot hide in the same microsecond.
func newSimulator(t *testing.T) conformance.Subject {
	path := filepath.Join(t.TempDir(), "account.db")
	var ticks atomic.Int64
	clock := func() time.Time {
		return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).Add(time.Duration(ticks.Add(1)) * time.Second)
	}
	open := func() *simulator.Simulator {
		s, err := simulator.Open(path, simulator.Options{Clock: clock})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	s := open()
	return conformance.Subject{
		Account: s,
		Seed: func(t *testing.T, orgID string, setup conformance.Setup) {
			t.Helper()
			if err := s.Seed(t.Context(), orgID, simulator.Setup{
				Account: &setup.Overview, Identities: setup.Identities, ConfigurationSets: setup.ConfigurationSets,
				List: setup.List, Contacts: setup.Contacts,
			}); err != nil {
				t.Fatal(err)
			}
		},
		Restart: func(t *testing.T) sending.Account {
			t.Helper()
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			return open()
		},
		Fail: func(_ *testing.T, f sending.Failure) func() {
			s.Faults().Set(simulator.Fault{Kind: f.Kind, RetryAfter: f.RetryAfter})
			return s.Faults().Clear
		},
	}
}
