package report

import (
	"errors"
	"net/netip"
	"time"
)

// The errors of [Unpack] and [Parse]. Both also return errors of the reader, unchanged.
var (
	// ErrNotReport means that the content is no aggregate report: another XML document, or no XML.
	ErrNotReport = errors.New("this is not a DMARC aggregate report")
	// ErrTLSReport means that the content is a report about SMTP TLS (RFC 8460), which has nothing
	// about DMARC.
	ErrTLSReport = errors.New("this is an SMTP TLS report (RFC 8460), not a DMARC aggregate report")
	// ErrTooLarge means that the content exceeds [Limits].
	ErrTooLarge = errors.New("the report is too large")
	// ErrCorrupt means that compressed or encoded content is damaged. Parse returns it only if the
	// damage is before the first element; otherwise what was read is kept.
	ErrCorrupt = errors.New("the compressed content of the report is damaged")
)

// Limits bounds what a report may take. All fields are required.
type Limits struct {
	// Bytes is the size of all XML of a file, uncompressed.
	Bytes int64
	// Packed is the size of a zip file that is read from a stream. It is held in memory.
	Packed int64
	// Documents is the number of documents in a zip file.
	Documents int
}

// DefaultLimits are the limits for reports that come by mail. The largest that receivers are
// known to send have some hundred thousand records.
var DefaultLimits = Limits{Bytes: 1 << 30, Packed: 32 << 20, Documents: 100}

// Report has what a report says apart from its records. Text is as the reporter wrote it, without
// surrounding space; domains and keywords are in lower case.
type Report struct {
	// Namespace is the XML namespace of the root element, "" without one.
	Namespace string
	// Version is the version of the format that the report states, often "" or "1.0".
	Version string
	// Org and Email name the reporter, and Contact says how to reach it.
	Org, Email, Contact string
	// ID is the report's identifier, which is unique for the reporter only.
	ID string
	// Begin and End are the first and the last second of the period; zero if they cannot be read.
	Begin, End time.Time
	// Generator names the program that wrote the report.
	Generator string
	// Errors has messages of the reporter about the published policy.
	Errors []string
	Policy Policy
	// Records counts the records that were passed on, and Messages the messages of these.
	Records  int
	Messages uint64
	Warnings []Warning
}

// Policy is the published policy as the reporter has read it. A field is "" if the report does not
// have it.
type Policy struct {
	// Domain is where the record was found.
	Domain string
	// P, SP and NP are "none", "quarantine", "reject", or another word that the reporter wrote.
	P, SP, NP string
	// ADKIM and ASPF are "r" or "s".
	ADKIM, ASPF string
	FO          string
	// Pct is the percentage of RFC 7489. RFC 9989 has none.
	Pct string
	// Testing is "y" or "n".
	Testing string
	// Discovery is "psl" or "treewalk".
	Discovery string
}

// Record is a number of messages with the same properties. Its strings may be kept after a visit,
// its slices not.
type Record struct {
	// Domain is that of the published policy, "" if the report names it only after the record.
	Domain   string
	SourceIP netip.Addr // IPv4 addresses in IPv6 form are IPv4 addresses here
	Count    uint64     // at least 1
	// Disposition is what the receiver did: "none", "pass", "quarantine" or "reject". "pass" is
	// "none" for a message that passed DMARC (RFC 9990). Reports without one have "none".
	Disposition string
	// DKIM and SPF report whether an aligned identifier passed.
	DKIM, SPF bool
	// Reasons say why the receiver did not apply the published policy.
	Reasons []Reason
	// HeaderFrom is the domain of the From address, EnvelopeFrom that of the envelope sender, "" if
	// it is empty or not reported.
	HeaderFrom, EnvelopeFrom string
	Signatures               []Signature
	SPFResults               []SPFResult
}

// Passed reports whether the messages passed DMARC.
func (r *Record) Passed() bool { return r.DKIM || r.SPF }

// Reason is a reason why the published policy was not applied, such as "forwarded",
// "local_policy", "mailing_list", "trusted_forwarder", "policy_test_mode" or "other".
type Reason struct{ Type, Comment string }

// Signature is the result of a DKIM signature: "pass", "fail", "none", "policy", "neutral",
// "temperror", "permerror", or another word that the reporter wrote.
type Signature struct{ Domain, Selector, Result string }

// SPFResult is a result of SPF: those of Signature, and "softfail". Scope is "mfrom" or "helo", "" if
// it is not reported.
type SPFResult struct{ Domain, Scope, Result string }

// Warning is something that could not be read as the reporter meant it.
type Warning struct {
	Code WarningCode
	// Count is how often it occurred, and Offset where first, in bytes of the XML.
	Count  int
	Offset int64
	// Detail is the first text that was concerned, shortened, "" for none. It comes from the
	// reporter and may have any content.
	Detail string
}

// WarningCode is a kind of [Warning].
type WarningCode string

// The kinds of warnings.
const (
	// Truncated reports end before the end of the root element. What is cut is left out: a value, and
	// a record that ends within its row.
	Truncated WarningCode = "truncated"
	// MissingEndTag: an element was ended by another one.
	MissingEndTag WarningCode = "missing_end_tag"
	// StrayEndTag: an end tag has no element. It is ignored.
	StrayEndTag WarningCode = "stray_end_tag"
	// StrayMarkup: a "<" that begins no tag is text.
	StrayMarkup WarningCode = "stray_markup"
	// InvalidEncoding: bytes that are not in the encoding, and NUL, were replaced by U+FFFD.
	InvalidEncoding WarningCode = "invalid_encoding"
	// UnknownEntity: a reference to an entity that XML does not define is text.
	UnknownEntity WarningCode = "unknown_entity"
	// ValueTooLong: a value was cut off.
	ValueTooLong WarningCode = "value_too_long"
	// InvalidSourceIP and InvalidCount: the record was left out.
	InvalidSourceIP WarningCode = "invalid_source_ip"
	InvalidCount    WarningCode = "invalid_count"
	// InvalidResult: an aligned result that is missing, or neither "pass" nor "fail", counts as not
	// passed.
	InvalidResult WarningCode = "invalid_result"
	// InvalidDisposition: it counts as "none".
	InvalidDisposition WarningCode = "invalid_disposition"
	// TooManyResults: further results or reasons of a record were left out.
	TooManyResults WarningCode = "too_many_results"
	// InvalidPeriod: the time range is missing, is not a range, or cannot be read.
	InvalidPeriod WarningCode = "invalid_period"
	// LongPeriod: the time range is longer than a day, so that its messages belong to no single day.
	LongPeriod WarningCode = "long_period"
	// MissingDomain: the report does not say which domain it is about.
	MissingDomain WarningCode = "missing_domain"
	// MissingID: the report has no identifier, so that a copy of it cannot be recognized by it.
	MissingID WarningCode = "missing_report_id"
	// UnknownNamespace: the root element is in a namespace that no version of the format has.
	UnknownNamespace WarningCode = "unknown_namespace"
	// ContentBeforeStart: an element before the root element was ignored.
	ContentBeforeStart WarningCode = "content_before_start"
	// ContentAfterEnd: something follows the root element. It was not read.
	ContentAfterEnd WarningCode = "content_after_end"
	// TooDeep: elements below a depth that no report has were ignored.
	TooDeep WarningCode = "too_deep"
)
