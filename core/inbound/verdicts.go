package inbound

import "github.com/mailhelm/mailhelm/core/mailauth"

// Verdict is the result of one check of a message, in the words that Amazon SES uses.
type Verdict = mailauth.Verdict

// The verdicts; see package mailauth. ProcessingFailed means that the check could not be made,
// and Disabled that this server does not make it.
const (
	Pass             = mailauth.Pass
	Fail             = mailauth.Fail
	Gray             = mailauth.Gray
	ProcessingFailed = mailauth.ProcessingFailed
	Disabled         = mailauth.Disabled
)

// Verdicts has the verdict of each check.
type Verdicts struct {
	SPF   Verdict `json:"spf" jsonschema:"enum=PASS,enum=FAIL,enum=GRAY,enum=PROCESSING_FAILED,enum=DISABLED" jsonschema_description:"Whether the sending server may send for the envelope sender (RFC 7208)."`
	DKIM  Verdict `json:"dkim" jsonschema:"enum=PASS,enum=FAIL,enum=GRAY,enum=PROCESSING_FAILED,enum=DISABLED" jsonschema_description:"Whether the message has a valid DKIM signature (RFC 6376)."`
	DMARC Verdict `json:"dmarc" jsonschema:"enum=PASS,enum=FAIL,enum=GRAY,enum=PROCESSING_FAILED,enum=DISABLED" jsonschema_description:"Whether SPF or DKIM passed for the domain of From (RFC 9989)."`
	Spam  Verdict `json:"spam" jsonschema:"enum=PASS,enum=FAIL,enum=GRAY,enum=PROCESSING_FAILED,enum=DISABLED" jsonschema_description:"Whether a scanner takes the message for spam: FAIL is spam."`
	Virus Verdict `json:"virus" jsonschema:"enum=PASS,enum=FAIL,enum=GRAY,enum=PROCESSING_FAILED,enum=DISABLED" jsonschema_description:"Whether a scanner found malware: FAIL is malware."`
}
