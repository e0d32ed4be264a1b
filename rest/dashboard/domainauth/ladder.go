package domainauth

import "github.com/mailhelm/mailhelm/core/domainauth"

// ladder shows the policy of a domain as a step of none, quarantine and reject.
type ladder struct {
	Steps []step
	// Without says why no step is reached, or is "".
	Without string
}

// step is a policy. Reached marks the present policy and weaker ones, Now the present one.
type step struct {
	Policy       string
	Reached, Now bool
}

// policies are the policies from the weakest to the strictest.
var policies = []string{"none", "quarantine", "reject"}

// ladderOf returns the ladder of a domain.
func ladderOf(p domainauth.Posture) ladder {
	l := ladder{}
	switch {
	case p.LastMeasuredAt == nil:
		l.Without = "not read yet"
	case p.Policy == nil:
		l.Without = "no record"
	}
	reached := p.Policy != nil
	for _, policy := range policies {
		now := p.Policy != nil && *p.Policy == policy
		l.Steps = append(l.Steps, step{Policy: policy, Reached: reached, Now: now})
		reached = reached && !now
	}
	return l
}

// whatPolicyAsks says what a policy asks receivers to do with mail that fails.
func whatPolicyAsks(policy *string) string {
	if policy == nil {
		return "Without a record, receivers deliver mail that fails, and send no reports."
	}
	return map[string]string{
		"none":       "Receivers are asked to deliver mail that fails as before.",
		"quarantine": "Receivers are asked to put mail that fails into the spam folder.",
		"reject":     "Receivers are asked to refuse mail that fails.",
	}[*policy]
}
