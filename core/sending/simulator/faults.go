package simulator

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
)

// Method is the name of a method of the account that a [Fault] affects.
type Method string

// The methods that a Fault can affect.
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
	MethodEraseAddress      Method = "EraseAddress"
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

// Forever is a Delay without an end: the call fails with TimedOut at its deadline or when
// its context ends.
const Forever time.Duration = 1<<63 - 1

// Fault is a failure of the account that tests and developers can simulate.
type Fault struct {
	// Method is the name of the affected method; AnyMethod means all.
	Method Method
	// Kind is the kind of failure that the call returns after Delay. With "", the call is
	// only delayed.
	Kind sending.FailureKind
	// RetryAfter is how long a failure of kind Throttled asks callers to wait.
	RetryAfter time.Duration
	// Delay is the time before the response. The call fails with TimedOut if its deadline is
	// earlier.
	Delay time.Duration
	// TookEffect means that the call is executed before Delay and Kind apply, as if only its
	// response was lost. If it is false, a failing call has no effect.
	TookEffect bool
	// Chance is the probability that a call is affected, from 0 to 1; zero means every call.
	Chance float64
	// Times is the number of calls that the fault affects; zero means all calls until the
	// fault is removed.
	Times int
}

// Faults has the failures that are currently simulated. They are in memory only: a restart
// removes them. It is safe for concurrent use.
type Faults struct {
	active atomic.Bool // true while any fault is set; while it is false, calls need no lock
	seed   uint64

	mu     sync.Mutex
	faults []Fault
	random *rand.Rand
}

func newFaults(seed uint64) *Faults { return &Faults{seed: seed} }

// Set replaces all faults. If several faults match a call, the first one applies. The
// random numbers for Fault.Chance restart from Options.Seed, so the same calls after Set
// have the same faults.
func (f *Faults) Set(faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append([]Fault(nil), faults...)
	f.random = rand.New(rand.NewPCG(f.seed, f.seed)) //nolint:gosec // repeatable on purpose
	f.active.Store(len(faults) > 0)
}

// Clear removes all faults.
func (f *Faults) Clear() { f.Set() }

// draw returns the fault that affects this call of the method, or nil if no fault does.
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

// spent is the value of Fault.Times after the last call that the fault affects.
const spent = -1

var errFault = errors.New("simulator: a fault is switched on")

// apply waits for the fault's Delay and returns its failure, or nil if its Kind is "". It
// returns TimedOut if ctx ends first.
func (f *Fault) apply(ctx context.Context) error {
	if f.Delay > 0 {
		if err := core.Sleep(ctx, f.Delay); err != nil {
			return timedOut(err)
		}
	}
	if f.Kind == "" {
		return nil
	}
	return &sending.Failure{Kind: f.Kind, RetryAfter: f.RetryAfter, Err: errFault}
}
