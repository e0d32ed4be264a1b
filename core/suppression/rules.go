package suppression

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// Reason is why an address is undeliverable. It is also the name of the rule that listed
// the address.
type Reason string

// The reasons.
const (
	PermanentBounce        Reason = "permanent_bounce"
	Complaint              Reason = "complaint"
	Rejected               Reason = "rejected"
	RepeatedTransient      Reason = "repeated_transient"
	Undetermined           Reason = "undetermined"
	SoftBounceAccumulation Reason = "soft_bounce_accumulation"
)

// reasons has all reasons, the most severe first. If several apply to an address, its entry
// has the first one.
var reasons = []Reason{PermanentBounce, Complaint, Rejected, RepeatedTransient, Undetermined, SoftBounceAccumulation}

// Rule says how many events within how many days make an address undeliverable. A locked
// rule cannot be changed: it is always enabled, with Events 1 and without WindowDays, so
// one event at any time suffices.
type Rule struct {
	Enabled    bool `json:"enabled"`
	Locked     bool `json:"locked" jsonschema_description:"Whether the rule is fixed. One event at any time then lists an address."`
	Events     int  `json:"events" jsonschema_description:"How many events within the window list an address."`
	WindowDays *int `json:"window_days" jsonschema:"nullable" jsonschema_description:"The window in days; null means no limit."`
}

// RuleSet has all six rules.
type RuleSet struct {
	PermanentBounce        Rule `json:"permanent_bounce"`
	Complaint              Rule `json:"complaint"`
	Rejected               Rule `json:"rejected"`
	RepeatedTransient      Rule `json:"repeated_transient"`
	Undetermined           Rule `json:"undetermined"`
	SoftBounceAccumulation Rule `json:"soft_bounce_accumulation"`
}

// Rule returns a pointer to the rule for the reason r, nil if r is unknown.
func (s *RuleSet) Rule(r Reason) *Rule {
	switch r {
	case PermanentBounce:
		return &s.PermanentBounce
	case Complaint:
		return &s.Complaint
	case Rejected:
		return &s.Rejected
	case RepeatedTransient:
		return &s.RepeatedTransient
	case Undetermined:
		return &s.Undetermined
	case SoftBounceAccumulation:
		return &s.SoftBounceAccumulation
	}
	return nil
}

// Reasons returns all reasons for which an address can be undeliverable, the most severe
// first.
func Reasons() []Reason { return slices.Clone(reasons) }

// Version returns a short hash of the rules. Equal rules have the same version.
func (s RuleSet) Version() string {
	text, _ := json.Marshal(s) // numbers and booleans always marshal
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:6])
}

// Profile is the name of a predefined set of rules, or Custom.
type Profile string

// The profiles. Strict enables only the locked rules, which an organization cannot change.
// Standard also enables the rule for repeated transient bounces, and Aggressive enables all
// rules. Standard is the default. Custom means rules that the organization chose.
const (
	Strict     Profile = "strict"
	Standard   Profile = "standard"
	Aggressive Profile = "aggressive"
	Custom     Profile = "custom"
)

// Rules are an organization's rules for undeliverable addresses and the profile that the
// organization chose.
type Rules struct {
	Profile Profile
	RuleSet
}

// RulesOf returns the rules of a profile. For the profile Custom, whose rules are stored,
// it returns the rules of Standard as initial values.
func RulesOf(p Profile) Rules {
	locked := Rule{Enabled: true, Locked: true, Events: 1}
	soft := func(enabled bool, events int) Rule {
		days := 30
		return Rule{Enabled: enabled, Events: events, WindowDays: &days}
	}
	return Rules{Profile: p, RuleSet: RuleSet{
		PermanentBounce: locked, Complaint: locked, Rejected: locked,
		RepeatedTransient:      soft(p != Strict, 3),
		Undetermined:           soft(p == Aggressive, 3),
		SoftBounceAccumulation: soft(p == Aggressive, 5),
	}}
}

const (
	maxRuleEvents = 100
	maxRuleWindow = 365
)

// check fails with core.CodeValidationFailed if the rules differ from those of their
// profile or have values out of range.
func (r Rules) check() error {
	switch r.Profile {
	case Strict, Standard, Aggressive:
		if r.Version() != RulesOf(r.Profile).Version() {
			return core.Invalid("profile", "must be custom if the rules differ from those of the profile")
		}
		return nil
	case Custom:
	default:
		return core.Invalid("profile", "must be strict, standard, aggressive or custom")
	}
	usual := RulesOf(Custom)
	for _, reason := range reasons {
		rule := r.Rule(reason)
		switch locked := usual.Rule(reason); {
		case locked.Locked && *rule != *locked:
			return core.Invalid(string(reason), "cannot be changed")
		case locked.Locked:
		case rule.Locked:
			return core.Invalid(string(reason), "cannot be locked")
		case rule.Events < 1 || rule.Events > maxRuleEvents:
			return core.Invalid(string(reason)+".events", fmt.Sprintf("must be between 1 and %d", maxRuleEvents))
		case rule.WindowDays == nil || *rule.WindowDays < 1 || *rule.WindowDays > maxRuleWindow:
			return core.Invalid(string(reason)+".window_days", fmt.Sprintf("must be between 1 and %d", maxRuleWindow))
		}
	}
	return nil
}

// isMet reports whether the rule is enabled and at least r.Events of the given times are
// within WindowDays of each other. The times must be sorted.
func (r *Rule) isMet(times []time.Time) bool {
	if !r.Enabled {
		return false
	}
	if r.WindowDays == nil {
		return len(times) >= r.Events
	}
	window := time.Duration(*r.WindowDays) * 24 * time.Hour
	for i := r.Events - 1; i < len(times); i++ {
		if times[i].Sub(times[i-r.Events+1]) <= window {
			return true
		}
	}
	return false
}
