package verify

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/mail"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/mailauth"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// checkDMARC decides whether an authenticated domain is aligned with the From field.
func (a *Authenticator) checkDMARC(ctx context.Context, in mailauth.Input, head header, headErr error, checked mailauth.Result) mailauth.DMARC {
	if headErr != nil {
		return mailauth.DMARC{Outcome: mailauth.OutcomePermError, Reason: headErr.Error()}
	}
	author, err := authorDomain(head.from, in.From)
	switch {
	case errors.Is(err, errSeveralAuthors):
		return mailauth.DMARC{Outcome: mailauth.OutcomeFail, Reason: err.Error()}
	case err != nil:
		return mailauth.DMARC{Outcome: mailauth.OutcomePermError, Reason: err.Error()}
	}
	dns := records{newLookups(a, maxDMARCQueries)}
	e, err := dmarc.Evaluate(ctx, dns, author, identifiers(checked, mailauth.OutcomePass))
	result := mailauth.DMARC{
		Author: author, Organization: e.Organization, PolicyDomain: e.Domain, Policy: e.Policy, Handling: e.Handling(),
		SPFAligned: e.SPFAligned, DKIMAligned: e.DKIMAligned,
	}
	switch {
	case err != nil:
		result.Outcome, result.Reason = mailauth.OutcomeTempError, reasonDNS
	case !e.Applies():
		result.Outcome = mailauth.OutcomeNone
	case e.Pass():
		result.Outcome = mailauth.OutcomePass
	case couldPass(ctx, dns, author, checked):
		result.Outcome, result.Reason = mailauth.OutcomeTempError, reasonDNS
	default:
		result.Outcome, result.Reason = mailauth.OutcomeFail, "no authenticated domain is aligned with the From field"
	}
	return result
}

// couldPass reports whether a check that DNS prevented could have authenticated an aligned
// domain. The message then neither passes nor fails (RFC 9989 section 5.3.6). A domain that
// is not aligned in any case does not count: otherwise a sender whose name servers do not
// answer would avoid a failure.
func couldPass(ctx context.Context, dns dmarc.Resolver, author string, checked mailauth.Result) bool {
	if checked.DKIM.Outcome == mailauth.OutcomeTempError && len(checked.DKIM.Signatures) == 0 {
		return true
	}
	e, err := dmarc.Evaluate(ctx, dns, author, identifiers(checked, mailauth.OutcomeTempError))
	return err != nil || e.Pass()
}

// identifiers returns the domains for which SPF and DKIM have the outcome.
func identifiers(checked mailauth.Result, outcome mailauth.Outcome) dmarc.Identifiers {
	var ids dmarc.Identifiers
	if checked.SPF.Outcome == outcome {
		ids.SPF = checked.SPF.Domain
	}
	for _, s := range checked.DKIM.Signatures {
		if s.Outcome == outcome && s.Domain != "" {
			ids.DKIM = append(ids.DKIM, s.Domain)
		}
	}
	return ids
}

var (
	errSeveralAuthors = errors.New("the message has several From domains")
	errNoAuthor       = errors.New("the message has no From address that can be read")
)

// authorDomain returns the one domain of the From field. It fails with errSeveralAuthors if
// the message has several From fields or From domains, or if the addresses that are shown
// have other domains than the header. It fails with errNoAuthor if an address cannot be read
// (RFC 9989 sections 5.3.1 and 11.5). Several addresses of one domain are allowed.
func authorDomain(fields, shown []string) (string, error) {
	if len(fields) > 1 {
		return "", errSeveralAuthors
	}
	if len(fields) == 0 || len(fields[0]) > maxFromField || hasGroup(fields[0]) {
		return "", errNoAuthor
	}
	addresses, err := fromParser.ParseList(fields[0])
	if err != nil || len(addresses) == 0 {
		return "", errNoAuthor
	}
	texts := slices.Clone(shown)
	for _, address := range addresses {
		texts = append(texts, address.Address)
	}
	var author string
	for _, text := range texts {
		_, domain := splitAddress(text)
		name, ok := dmarc.Name(domain)
		switch {
		case !ok:
			return "", errNoAuthor
		case author != "" && name != author:
			return "", errSeveralAuthors
		}
		author = name
	}
	return author, nil
}

// fromParser reads addresses and leaves display names in unknown charsets as they are; an
// error there would make the address unreadable.
var fromParser = &mail.AddressParser{WordDecoder: &mime.WordDecoder{
	CharsetReader: func(_ string, input io.Reader) (io.Reader, error) { return input, nil },
}}

// hasGroup reports whether a From field has the syntax of a group (RFC 6854): a colon
// outside of quoted strings, comments, angle brackets and domain literals.
func hasGroup(field string) bool {
	var quoted bool
	var depth int
	var skip bool
	for _, r := range field {
		switch {
		case skip:
			skip = false
		case r == '\\':
			skip = true
		case r == '"' && depth == 0:
			quoted = !quoted
		case quoted:
		case strings.ContainsRune("(<[", r):
			depth++
		case strings.ContainsRune(")>]", r):
			depth = max(0, depth-1)
		case r == ':' && depth == 0:
			return true
		}
	}
	return false
}
