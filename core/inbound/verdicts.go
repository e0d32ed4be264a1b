package inbound

// Verdict is the result of one check of a message, in the words that Amazon SES uses. Package
// mailauth has the same words for the checks that it makes.
type Verdict string

// The verdicts.
const (
	Pass Verdict = "PASS"
	Fail Verdict = "FAIL"
	// Gray means that the check could not decide, for example because the domain publishes no
	// policy.
	Gray Verdict = "GRAY"
	// ProcessingFailed means that the check could not be made, for example because a scanner did
	// not answer.
	ProcessingFailed Verdict = "PROCESSING_FAILED"
	// Disabled means that this server does not make the check.
	Disabled Verdict = "DISABLED"
)

// Verdicts has the verdict of each check.
type Verdicts struct {
	SPF   Verdict `json:"spf" jsonschema:"enum=PASS,enum=FAIL,enum=GRAY,enum=PROCESSING_FAILED,enum=DISABLED" jsonschema_description:"Whether the sending server may send for the envelope sender (RFC 7208)."`
	DKIM  Verdict `json:"dkim" jsonschema:"enum=PASS,enum=FAIL,enum=GRAY,enum=PROCESSING_FAILED,enum=DISABLED" jsonschema_description:"Whether the message has a valid DKIM signature (RFC 6376)."`
	DMARC Verdict `json:"dmarc" jsonschema:"enum=PASS,enum=FAIL,enum=GRAY,enum=PROCESSING_FAILED,enum=DISABLED" jsonschema_description:"Whether SPF or DKIM passed for the domain of From (RFC 9989)."`
	Spam  Verdict `json:"spam" jsonschema:"enum=PASS,enum=FAIL,enum=GRAY,enum=PROCESSING_FAILED,enum=DISABLED" jsonschema_description:"Whether a scanner takes the message for spam: FAIL is spam."`
	Virus Verdict `json:"virus" jsonschema:"enum=PASS,enum=FAIL,enum=GRAY,enum=PROCESSING_FAILED,enum=DISABLED" jsonschema_description:"Whether a scanner found malware: FAIL is malware."`
}
