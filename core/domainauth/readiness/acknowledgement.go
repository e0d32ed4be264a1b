package readiness

import (
	"errors"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// Acknowledgement is a person's acceptance of what one step of the policy costs. It does not
// change after its acceptance.
type Acknowledgement struct {
	At time.Time
	// Current and Target are the step for which it is valid.
	Current, Target dmarc.Policy
	// Frozen is the cost at the acceptance.
	Frozen Cost
}

// Cost is the mail that a step loses because relays broke it, in the window of a measurement.
type Cost struct {
	// From and To are the window; To is not part of it.
	From, To time.Time
	// Messages is the number of messages that relays broke, and PerDay the same per covered
	// day.
	Messages int64
	PerDay   figures.Ratio
	// Sources has those of [Impact.Sources] with such messages.
	Sources []SourceImpact
}

// ErrNothingToAcknowledge means that a domain does not wait for an acknowledgement: its
// criteria are not met yet, no relay broke a message, the cost is acknowledged already, or
// there is no next rung.
var ErrNothingToAcknowledge = errors.New("readiness: there is nothing to acknowledge")

// ErrOtherTarget means that an acknowledgement was for a policy that is not the next rung.
var ErrOtherTarget = errors.New("readiness: the policy to acknowledge is not the next rung")

// Acknowledge returns the acknowledgement of the cost of the next rung, given at a time for
// a target. It changes nothing; the caller stores the result. It fails with
// ErrNothingToAcknowledge unless PendingAcknowledgement, otherwise with ErrOtherTarget if
// target is not the target of the assessment.
func (a Assessment) Acknowledge(target dmarc.Policy, at time.Time) (Acknowledgement, error) {
	if !a.PendingAcknowledgement {
		return Acknowledgement{}, ErrNothingToAcknowledge
	}
	if target != a.Target {
		return Acknowledgement{}, ErrOtherTarget
	}
	cost := Cost{
		From: a.From, To: a.To, Messages: a.Impact.RelayBroken,
		PerDay:  figures.Ratio{Part: a.Impact.RelayBroken, Whole: a.Impact.FailingMessagesPerDay.Whole},
		Sources: slices.DeleteFunc(slices.Clone(a.Impact.Sources), func(s SourceImpact) bool { return s.RelayBroken == 0 }),
	}
	return Acknowledgement{At: at, Current: a.Current, Target: a.Target, Frozen: cost}, nil
}

// validFor reports whether the acknowledgement, which may be nil, is for a step from a policy
// that is published since a time.
func (a *Acknowledgement) validFor(current, target dmarc.Policy, since time.Time) bool {
	return a != nil && target != "" && a.Current == current && a.Target == target && !since.After(a.At)
}
