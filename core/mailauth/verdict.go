package mailauth

// Verdict is the short form of a check, in the vocabulary of Amazon SES's notifications of
// received mail. Only Pass means that something was authenticated.
type Verdict string

// The verdicts.
const (
	// Pass means that the check succeeded.
	Pass Verdict = "PASS"
	// Fail means that the check failed.
	Fail Verdict = "FAIL"
	// Gray means that the check says nothing: no record, no signature, or a failure that the
	// owner of the domain wants ignored.
	Gray Verdict = "GRAY"
	// ProcessingFailed means that the check was not possible, for example because DNS did
	// not answer.
	ProcessingFailed Verdict = "PROCESSING_FAILED"
	// Disabled means that the check is not configured.
	Disabled Verdict = "DISABLED"
)

// Outcome is the exact result of a check, in the names of RFC 8601 section 2.7. The empty
// Outcome means that nothing was checked.
type Outcome string

// The outcomes.
const (
	OutcomeNone      Outcome = "none"
	OutcomePass      Outcome = "pass"
	OutcomeFail      Outcome = "fail"
	OutcomeSoftFail  Outcome = "softfail"
	OutcomeNeutral   Outcome = "neutral"
	OutcomeTempError Outcome = "temperror"
	OutcomePermError Outcome = "permerror"
)

// verdict returns the verdict for an outcome. An unknown outcome counts as a check that was
// not possible.
func (o Outcome) verdict() Verdict {
	switch o {
	case "":
		return Disabled
	case OutcomePass:
		return Pass
	case OutcomeFail, OutcomeSoftFail:
		return Fail
	case OutcomeNone, OutcomeNeutral:
		return Gray
	default:
		return ProcessingFailed
	}
}
