package arrivals

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
	"github.com/mailhelm/mailhelm/core/inbound"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// reportersOf reads a file without storing anything, and returns the reporters of its reports about
// a domain or those below it, sorted. Content that is no report is left out; [Intake] says what is
// wrong with it. It fails with the errors of the reader only.
func reportersOf(file io.Reader, domain string, reporterOf func(*report.Report) string) ([]string, error) {
	found := map[string]bool{}
	source := &failing{Reader: file}
	_ = report.Unpack(source, report.DefaultLimits, func(document io.Reader) error {
		parsed, err := report.Parse(document, func(*report.Record) error { return nil })
		if source.err != nil {
			return source.err
		}
		if err == nil && isAbout(parsed.Policy.Domain, domain) {
			found[reporterOf(parsed)] = true
		}
		return nil
	})
	if source.err != nil {
		return nil, source.err
	}
	return sortedKeys(found), nil
}

func sortedKeys(set map[string]bool) []string {
	keys := make([]string, 0, len(set))
	for key := range set {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// failing remembers the error of a reader.
type failing struct {
	io.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		f.err = err
	}
	return n, err
}

// isAbout reports whether a report about a policy domain could count for a domain.
func isAbout(policyDomain, domain string) bool {
	name, ok := dmarc.Name(policyDomain)
	return ok && (name == domain || strings.HasSuffix(name, "."+domain))
}

// admission is the answer to the question whether a file counts.
type admission struct {
	// reporter is the one because of which the file is held, or the first one of the file.
	reporter string
	// problem says why the file is held, "" if it counts.
	problem string
}

// admit decides whether a file with reports of the reporters counts. Every one of them must be
// accepted, or be the organization for which DMARC passed. It fails if DNS does not answer; the
// answer is then the one without DNS.
func admit(ctx context.Context, r dmarc.Resolver, f File, reporters []string, decisions map[string]Decision) (admission, error) {
	for _, reporter := range reporters {
		switch decisions[reporter] {
		case Accepted:
			continue
		case Rejected:
			return admission{reporter, "This reporter is rejected, so the report is not counted."}, nil
		}
		if f.Verdicts == nil || f.Verdicts.DMARC != inbound.Pass {
			return admission{reporter, "The message is not proven to come from the reporter: it did not pass DMARC. Accept the reporter if you trust it."}, nil
		}
		same, err := isSameOrganization(ctx, r, domainOf(f.Sender), reporter)
		if err != nil {
			return admission{reporter, "The message is not proven to come from the reporter: the name servers of its domain do not answer. Accept the reporter if you trust it."}, err
		}
		if !same {
			return admission{reporter, "The report names another reporter than the sender of the message. Accept the reporter if you trust it."}, nil
		}
	}
	if len(reporters) == 0 {
		return admission{reporter: f.Reporter}, nil
	}
	return admission{reporter: reporters[0]}, nil
}

// isSameOrganization reports whether a From domain, for which DMARC passed, is the domain of a
// reporter, or one of the same organization (RFC 9989 section 4.10.2). A reporter that is no domain
// is never the same. r is nil without DNS.
func isSameOrganization(ctx context.Context, r dmarc.Resolver, from, reporter string) (bool, error) {
	from, isName := dmarc.Name(from)
	name, isDomain := dmarc.Name(reporter)
	switch {
	case !isName || !isDomain:
		return false, nil
	case from == name:
		return true, nil
	case r == nil || !strings.Contains(name, "."):
		return false, nil
	}
	walked, err := dmarc.Walk(ctx, r, from)
	if err != nil {
		return false, err
	}
	organization := walked.OrganizationalDomain()
	if name != organization && !strings.HasSuffix(name, "."+organization) {
		return false, nil
	}
	if walked, err = dmarc.Walk(ctx, r, name); err != nil {
		return false, err
	}
	return walked.OrganizationalDomain() == organization, nil
}
