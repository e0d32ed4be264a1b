package simulator

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// Method names a call of the account in a [Fault].
type Method string

// The calls that a fault can affect.
const (
	AnyMethod               Method = ""
	MethodOverview          Method = "Overview"
	MethodIdentities        Method = "Identities"
	MethodConfigurationSets Method = "ConfigurationSets"
	MethodContactList       Method = "ContactList"
	MethodContact           Method = "Contact"
	MethodContacts          Method = "Contacts"
	MethodPutContact        Method = "PutContact"
	MethodPutContacts       Method = "PutContacts"
	MethodDeleteContact     Method = "DeleteContact"
	MethodChangeTopics      Method = "ChangeTopics"
	MethodEnsureContactList Method = "EnsureContactList"
	MethodPutContactList    Method = "PutContactList"
	MethodSend              Method = "Send"
	MethodSendBulk          Method = "SendBulk"
	MethodSuppressed        Method = "Suppressed"
	MethodSuppressedPage    Method = "SuppressedPage"
	MethodTemplatesPage     Method = "TemplatesPage"
	MethodTemplate          Method = "Template"
	MethodPutTemplate       Method = "PutTemplate"
	MethodDeleteTemplate    Method = "DeleteTemplate"

	MethodRequestProductionAccess Method = "RequestProductionAccess"
)

// Forever is a Delay beyond every deadline: the call ends with TimedOut when its
// context or its own deadline ends.
const Forever time.Duration = 1<<63 - 1

// Fault is a simulated failure of the account.
type Fault struct {
	// Method is the affected call; AnyMethod means all.
	Method Method
	// Kind is the failure after Delay; "" only delays.
	Kind sending.FailureKind
	// RetryAfter is the wait of a Throttled failure.
	RetryAfter time.Duration
	// Delay is the wait before the response. An earlier deadline ends it.
	Delay time.Duration
	// TookEffect runs the call before Delay and Kind apply: the write is stored
	// although its response is lost. Otherwise the call has no effect.
	TookEffect bool
	// Chance is the probability that a call is affected, from 0 to 1; zero means
	// always.
	Chance float64
	// Times is the number of affected calls before the fault ends; zero means until it
	// is cleared.
	Times int
}

// Faults configures the simulated failures. They are not stored: a restart clears them.
// It is safe for concurrent use.
type Faults struct {
	active atomic.Bool // saves the lock for calls without faults
	seed   uint64

	mu     sync.Mutex
	faults []Fault
	random *rand.Rand
}

func newFaults(seed uint64) *Faults { return &Faults{seed: seed} }

// Set replaces all faults. If several match a call, the first applies. Random draws
// restart from Options.Seed, so the same calls in the same order after Set have the
// same faults.
func (f *Faults) Set(faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append([]Fault(nil), faults...)
	f.random = rand.New(rand.NewPCG(f.seed, f.seed)) //nolint:gosec // repeatable on purpose
	f.active.Store(len(faults) > 0)
}

// Clear removes all faults.
func (f *Faults) Clear() { f.Set() }

// draw returns the fault for this call, or nil.
func (f *Faults) draw(m Method) *Fault {
	if !f.active.Load() {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.faults {
		fault := &f.faults[i]
		if fault.Times == spent || fault.Method != AnyMethod && fault.Method != m {
			continue
		}
		if fault.Chance > 0 && f.random.Float64() >= fault.Chance {
			continue
		}
		struck := *fault
		switch fault.Times {
		case 0: // until cleared
		case 1:
			fault.Times = spent
		default:
			fault.Times--
		}
		return &struck
	}
	return nil
}

// spent marks a fault whose Times are used up.
const spent = -1

var errFault = errors.New("simulator: a fault is switched on")

// apply waits for the delay and returns the fault's failure; nil for a fault that only
// delays.
func (f *Fault) apply(ctx context.Context) error {
	if f.Delay > 0 {
		timer := time.NewTimer(f.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return timedOut(ctx.Err())
		}
	}
	if f.Kind == "" {
		return nil
	}
	return &sending.Failure{Kind: f.Kind, RetryAfter: f.RetryAfter, Err: errFault}
}
