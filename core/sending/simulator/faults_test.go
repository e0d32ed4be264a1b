package simulator_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

func wantFailure(t *testing.T, err error, kind sending.FailureKind) {
	t.Helper()
	if f, ok := errors.AsType[*sending.Failure](err); !ok || f.Kind != kind {
		t.Errorf("the call fails with %v, want %s", err, kind)
	}
}

// newSeeded returns a simulator with an account that has two contacts, person(0) and
// person(1).
func newSeeded(t *testing.T, opts simulator.Options) *simulator.Simulator {
	t.Helper()
	s := open(t, filepath.Join(t.TempDir(), "account.db"), opts)
	seed(t, s, "org", 2)
	return s
}

func TestFaultStrikesItsMethodAlone(t *testing.T) {
	t.Parallel()
	s := newSeeded(t, simulator.Options{})
	s.Faults().Set(
		simulator.Fault{Method: simulator.MethodPutContact, Kind: sending.Throttled, RetryAfter: 9 * time.Second},
		simulator.Fault{Method: simulator.MethodOverview, Kind: sending.Refused},
	)
	err := s.PutContact(t.Context(), "org", person(2))
	if f, ok := errors.AsType[*sending.Failure](err); !ok || f.Kind != sending.Throttled || f.RetryAfter != 9*time.Second {
		t.Errorf("PutContact fails with %v", err)
	}
	_, err = s.Overview(t.Context(), "org")
	wantFailure(t, err, sending.Refused)
	if _, err := s.Contact(t.Context(), "org", person(2).Email); !sending.IsNotFound(err) {
		t.Errorf("a throttled put had an effect: %v", err)
	}
	must(t, s.DeleteContact(t.Context(), "org", person(1).Email))
	s.Faults().Clear()
	must(t, s.PutContact(t.Context(), "org", person(2)))
}

func TestFaultAfterTheWrite(t *testing.T) {
	t.Parallel()
	s := newSeeded(t, simulator.Options{})
	there := func(i int) bool {
		_, err := s.Contact(t.Context(), "org", person(i).Email)
		return err == nil
	}
	for _, test := range []struct {
		method simulator.Method
		write  func() error
		took   func() bool
	}{
		{
			simulator.MethodPutContact,
			func() error { return s.PutContact(t.Context(), "org", person(7)) },
			func() bool { return there(7) },
		},
		{
			simulator.MethodPutContacts,
			func() error {
				_, err := s.PutContacts(t.Context(), "org", []sending.Contact{person(8)})
				return err
			},
			func() bool { return there(8) },
		},
		{
			simulator.MethodDeleteContact,
			func() error { return s.DeleteContact(t.Context(), "org", person(0).Email) },
			func() bool { return !there(0) },
		},
	} {
		fault := simulator.Fault{Method: test.method, Kind: sending.TimedOut}
		s.Faults().Set(fault)
		wantFailure(t, test.write(), sending.TimedOut)
		if test.took() {
			t.Errorf("%s that timed out first took effect", test.method)
		}
		fault.TookEffect = true
		s.Faults().Set(fault)
		wantFailure(t, test.write(), sending.TimedOut)
		if !test.took() {
			t.Errorf("%s that timed out afterwards had no effect", test.method)
		}
	}
}

func TestFaultEndsAfterItsTimes(t *testing.T) {
	t.Parallel()
	s := newSeeded(t, simulator.Options{})
	s.Faults().Set(simulator.Fault{Kind: sending.Refused, Times: 2})
	var failed []bool
	for range 4 {
		_, err := s.Overview(t.Context(), "org")
		failed = append(failed, err != nil)
	}
	if !slices.Equal(failed, []bool{true, true, false, false}) {
		t.Errorf("calls failed: %v", failed)
	}
}

func TestChanceIsRepeatable(t *testing.T) {
	t.Parallel()
	s := newSeeded(t, simulator.Options{Seed: 7})
	draw := func() []bool {
		s.Faults().Set(simulator.Fault{Kind: sending.Refused, Chance: 0.5})
		var failed []bool
		for range 64 {
			_, err := s.Contact(t.Context(), "org", person(0).Email)
			failed = append(failed, err != nil)
		}
		return failed
	}
	first := draw()
	if !slices.Contains(first, true) || !slices.Contains(first, false) {
		t.Errorf("of 64 calls with an even chance, all or none failed")
	}
	if !slices.Equal(first, draw()) {
		t.Error("the same seed struck other calls")
	}
}

// TestDelays checks how long delayed calls take, in virtual time. It opens the account
// inside synctest.Test, because all goroutines of the account must run in virtual time.
func TestDelays(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault    simulator.Fault
		deadline time.Duration
		kind     sending.FailureKind
		after    time.Duration
	}{
		"only slow":                 {simulator.Fault{Delay: time.Second}, time.Hour, "", time.Second},
		"slow, then refused":        {simulator.Fault{Delay: time.Second, Kind: sending.Refused}, time.Hour, sending.Refused, time.Second},
		"the caller's deadline":     {simulator.Fault{Delay: simulator.Forever}, 2 * time.Second, sending.TimedOut, 2 * time.Second},
		"the call's own deadline":   {simulator.Fault{Delay: simulator.Forever}, time.Hour, sending.TimedOut, 5 * time.Second},
		"the deadline comes first":  {simulator.Fault{Delay: time.Minute, Kind: sending.Refused}, time.Hour, sending.TimedOut, 5 * time.Second},
		"the answer alone is stuck": {simulator.Fault{Delay: simulator.Forever, TookEffect: true}, time.Hour, sending.TimedOut, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newSeeded(t, simulator.Options{})
				s.Faults().Set(test.fault)
				ctx, cancel := context.WithTimeout(t.Context(), test.deadline)
				defer cancel()
				start := time.Now()
				err := s.PutContact(ctx, "org", person(5))
				if took := time.Since(start); took != test.after {
					t.Errorf("the call took %v, want %v", took, test.after)
				}
				if test.kind != "" {
					wantFailure(t, err, test.kind)
				} else {
					must(t, err)
				}
				s.Faults().Clear()
				_, err = s.Contact(t.Context(), "org", person(5).Email)
				if wrote, want := err == nil, test.kind == "" || test.fault.TookEffect; wrote != want {
					t.Errorf("the contact is there: %v, want %v", wrote, want)
				}
			})
		})
	}
}

func TestFaultsMayBeSwitchedDuringCalls(t *testing.T) {
	t.Parallel()
	s := newSeeded(t, simulator.Options{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				s.Faults().Set(simulator.Fault{Kind: sending.Refused, Chance: 0.5, Times: 3})
				if _, err := s.Contact(t.Context(), "org", person(0).Email); err != nil {
					wantFailure(t, err, sending.Refused)
				}
				s.Faults().Clear()
			}
		})
	}
	wg.Wait()
}
