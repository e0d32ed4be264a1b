package mailauth

import (
	"io"
	"net/netip"

	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// Input is a received message and what the SMTP session said about it.
type Input struct {
	// RemoteIP is the address of the SMTP client.
	RemoteIP netip.Addr
	// Helo is the name that the client gave in HELO or EHLO.
	Helo string
	// MailFrom is the envelope sender, without angle brackets. It is empty for the null
	// reverse-path.
	MailFrom string
	// From has the addresses of the From field as they are shown to readers. If its domain
	// differs from the one in the message's header, DMARC fails. Nil means that only the
	// header is read.
	From []string
	// Message is the message as received, header and body with CRLF line ends. It is read
	// twice, one time after the other.
	Message io.ReaderAt
	// Size is the length of Message in octets.
	Size int64
}

// Result has the results of the three checks.
type Result struct {
	SPF   SPF   `json:"spf"`
	DKIM  DKIM  `json:"dkim"`
	DMARC DMARC `json:"dmarc"`
}

// The identities that SPF checks (RFC 7208 section 2).
const (
	IdentityMailFrom = "mailfrom"
	IdentityHelo     = "helo"
)

// SPF is the result of the SPF check.
type SPF struct {
	Outcome Outcome `json:"outcome"`
	// Domain is the domain that was checked, empty if the identity has none.
	Domain string `json:"domain,omitempty"`
	// Identity is IdentityMailFrom, or IdentityHelo for the null reverse-path.
	Identity string `json:"identity,omitempty"`
	// Reason says why the outcome is not pass or none, in fixed words.
	Reason string `json:"reason,omitempty"`
}

// Verdict returns the verdict of the check.
func (s SPF) Verdict() Verdict { return s.Outcome.verdict() }

// DKIM is the result of the DKIM check.
type DKIM struct {
	// Outcome is pass if one signature is valid. Otherwise it is the outcome of the
	// signatures that says most: temperror, fail, permerror, neutral; none without a
	// signature.
	Outcome Outcome `json:"outcome"`
	// Signatures has the signatures that were checked, in the order of the header.
	Signatures []Signature `json:"signatures,omitempty"`
	// Unchecked is the number of further signatures, which were not checked.
	Unchecked int `json:"unchecked,omitempty"`
	// Reason says why no signature was checked although there are some, in fixed words.
	Reason string `json:"reason,omitempty"`
}

// Verdict returns the verdict of the check.
func (d DKIM) Verdict() Verdict { return d.Outcome.verdict() }

// Signature is the result of one DKIM signature.
type Signature struct {
	Outcome Outcome `json:"outcome"`
	// Domain is the signing domain (tag d) and Selector the name of its key (tag s), as far
	// as the signature could be read. The sender wrote both.
	Domain   string `json:"domain,omitempty"`
	Selector string `json:"selector,omitempty"`
	// Reason says why the outcome is not pass, in fixed words.
	Reason string `json:"reason,omitempty"`
}

// DMARC is the result of the DMARC check.
type DMARC struct {
	Outcome Outcome `json:"outcome"`
	// Author is the domain of the From field, in A-labels. It is empty if the message does
	// not have exactly one.
	Author string `json:"author,omitempty"`
	// Organization is the organizational domain of Author, and PolicyDomain the domain whose
	// record applies. They are empty if they are not known.
	Organization string `json:"organization,omitempty"`
	PolicyDomain string `json:"policy_domain,omitempty"`
	// Policy is the published policy for Author, and Handling the policy to apply now, which
	// is one level below while the owner is testing.
	Policy   dmarc.Policy `json:"policy,omitempty"`
	Handling dmarc.Policy `json:"handling,omitempty"`
	// SPFAligned and DKIMAligned report which mechanism authenticated an aligned domain.
	SPFAligned  bool `json:"spf_aligned,omitempty"`
	DKIMAligned bool `json:"dkim_aligned,omitempty"`
	// Reason says why the outcome is not pass or none, in fixed words.
	Reason string `json:"reason,omitempty"`
}

// Verdict returns the verdict of the check. A failure with the policy "none" is Gray.
func (d DMARC) Verdict() Verdict {
	if d.Outcome == OutcomeFail && d.Handling == dmarc.None {
		return Gray
	}
	return d.Outcome.verdict()
}
