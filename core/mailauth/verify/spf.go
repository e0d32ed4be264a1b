package verify

import (
	"context"
	"errors"
	"strings"

	"blitiri.com.ar/go/spf"
	"github.com/mailhelm/mailhelm/core/mailauth"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// checkSPF checks the MAIL FROM identity, or for the null reverse-path the postmaster of the
// HELO identity (RFC 7208 section 2.4).
func (a *Authenticator) checkSPF(ctx context.Context, in mailauth.Input) mailauth.SPF {
	result := mailauth.SPF{Identity: mailauth.IdentityMailFrom}
	local, domain := splitAddress(in.MailFrom)
	helo, _ := dmarc.Name(in.Helo)
	if in.MailFrom == "" {
		result.Identity = mailauth.IdentityHelo
		local, domain = "postmaster", in.Helo
	}
	name, ok := dmarc.Name(domain)
	if !ok {
		// An address literal or a malformed domain has no record (RFC 7208 section 4.3).
		result.Outcome = mailauth.OutcomeNone
		return result
	}
	result.Domain = name
	if strings.ContainsRune(local, '@') {
		// The SPF library would take the part after the first @ as the domain.
		result.Outcome, result.Reason = mailauth.OutcomePermError, "the local part has an @"
		return result
	}
	dns := newLookups(a, maxSPFQueries)
	outcome, err := spf.CheckHostWithSender(in.RemoteIP.Unmap().AsSlice(), helo, local+"@"+name, spf.WithContext(ctx), spf.WithResolver(dns))
	result.Outcome, result.Reason = spfOutcome(outcome, err)
	return result
}

// splitAddress divides an address at its last @.
func splitAddress(address string) (local, domain string) {
	at := strings.LastIndexByte(address, '@')
	if at < 0 {
		return address, ""
	}
	return address[:at], address[at+1:]
}

// spfOutcome returns the outcome for a result of the SPF library, and the reason in fixed
// words. The library's own errors may contain text of the sender's records.
func spfOutcome(result spf.Result, err error) (mailauth.Outcome, string) {
	switch result {
	case spf.None:
		return mailauth.OutcomeNone, ""
	case spf.Neutral:
		return mailauth.OutcomeNeutral, "the record says nothing about the address"
	case spf.Pass:
		return mailauth.OutcomePass, ""
	case spf.Fail:
		return mailauth.OutcomeFail, "the record excludes the address"
	case spf.SoftFail:
		return mailauth.OutcomeSoftFail, "the record excludes the address, without certainty"
	case spf.TempError:
		return mailauth.OutcomeTempError, reasonDNS
	}
	switch {
	case errors.Is(err, spf.ErrLookupLimitReached), errors.Is(err, spf.ErrVoidLookupLimitReached), errors.Is(err, spf.ErrTooManyMXRecords):
		return mailauth.OutcomePermError, "the record needs too many queries"
	case errors.Is(err, spf.ErrMultipleRecords):
		return mailauth.OutcomePermError, "the domain has several records"
	case errors.Is(err, spf.ErrInvalidIPAddress):
		return mailauth.OutcomePermError, "the address of the client is not known"
	default:
		return mailauth.OutcomePermError, "the record is not valid"
	}
}

const reasonDNS = "a DNS query failed"
