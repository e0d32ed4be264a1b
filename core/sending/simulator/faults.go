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

// The calls that a fault can strike.
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

// Forever is a Delay beyond every deadline: the call ends when its context or
// its own deadline does, with TimedOut.
const Forever time.Duration = 1<<63 - 1

// Fault is something wrong with the account.
type Fault struct {
	// Method is the call it strikes; AnyMethod for all.
	Method Method
	// Kind is how the call fails after Delay. "" only delays.
	Kind sending.FailureKind
	// RetryAfter goes with Throttled.
	RetryAfter time.Duration
	// Delay is waited before the answer. A deadline that comes first wins.
	Delay time.Duration
	// TookEffect lets the call do its work before Delay and Kind strike: the
	// write is there although its answer is lost. Otherwise nothing is done.
	TookEffect bool
	// Chance is how likely a call is struck, from 0 to 1. Zero means always.
	Chance float64
	// Times is how many calls are struck before the fault is over. Zero means
	// until it is cleared.
	Times int
}

// Faults are the switches of everything that can be wrong with the account. They
// are not stored: a restart heals the account. Safe for concurrent use.
type Faults struct {
	active atomic.Bool // spares healthy calls the lock
	seed   uint64

	mu     sync.Mutex
	faults []Fault
	random *rand.Rand
}

func newFaults(seed uint64) *Faults { return &Faults{seed: seed} }

// Set replaces all faults. Of several that fit a call, the first strikes. Chances
// are drawn from Options.Seed anew from here, so the same calls in the same
// order after Set are struck the same way.
func (f *Faults) Set(faults ...Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append([]Fault(nil), faults...)
	f.random = rand.New(rand.NewPCG(f.seed, f.seed)) //nolint:gosec // repeatable on purpose
	f.active.Store(len(faults) > 0)
}

// Clear takes all faults away.
func (f *Faults) Clear() { f.Set() }

// draw is the fault that strikes this call, or nil.
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

// spent marks a fault that struck as often as it was to.
const spent = -1

var errFault = errors.New("simulator: a fault is switched on")

// strike waits and fails as the fault says; nil when it only delays.
func (f *Fault) strike(ctx context.Context) error {
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
