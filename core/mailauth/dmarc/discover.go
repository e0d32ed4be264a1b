package dmarc

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

var errName = errors.New("the domain is not a domain name")

// Discovery is what DNS says about mail from one author domain.
type Discovery struct {
	// Author is the domain of the From address, in the form of Name.
	Author string
	// Organization is the organizational domain of Author.
	Organization string
	// Domain is where the applicable record was found: Author, Organization or a public
	// suffix. It is empty without a record.
	Domain string
	// Record is the applicable record. It is the zero Record if Domain is empty.
	Record Record
	// Policy is the published policy for Author: p, sp or np. It is empty if DMARC does not
	// apply: there is no record, or it does not apply (see Record.Applies).
	Policy Policy
}

// Applies reports whether mail from the author domain is judged by DMARC.
func (d Discovery) Applies() bool { return d.Policy != "" }

// Handling returns the policy that the owner wants applied now: Policy, or the one below it
// while the owner is testing (tag t, section 4.7).
func (d Discovery) Handling() Policy {
	if d.Record.Testing {
		return d.Policy.Relaxed()
	}
	return d.Policy
}

// Discover finds the record that applies to mail from a domain (section 4.10.1) and the
// domain's organizational domain (section 4.10.2), with one tree walk. A further query is
// made only if the policy depends on whether the domain exists. It fails if the domain is
// not a name, or if one query fails.
func Discover(ctx context.Context, r Resolver, domain string) (Discovery, error) {
	tree, err := Walk(ctx, r, domain)
	if err != nil {
		return Discovery{}, err
	}
	d := Discovery{Author: tree.Domain, Organization: tree.OrganizationalDomain()}
	published, found := tree.policy()
	if !found {
		return d, nil
	}
	d.Domain, d.Record = published.Domain, published.Record
	subdomain, exists := d.Domain != d.Author, true
	if subdomain && d.Record.dependsOnExistence() {
		if exists, err = r.Exists(ctx, d.Author); err != nil {
			return Discovery{}, fmt.Errorf("dmarc: look up whether the domain exists: %w", err)
		}
	}
	d.Policy = d.Record.PolicyFor(subdomain, exists)
	return d, nil
}

// Aligned reports whether an authenticated domain is aligned with the author domain (section
// 4.4): the same domain, or, in relaxed mode, one with the same organizational domain. Equal
// domains, and those outside of the author's organizational domain, need no query. A text that is not a domain name is never aligned. It fails if a
// query fails.
func Aligned(ctx context.Context, r Resolver, d Discovery, authenticated string, mode Mode) (bool, error) {
	name, ok := Name(authenticated)
	switch {
	case !ok || d.Author == "":
		return false, nil
	case name == d.Author:
		return true, nil
	case mode != Relaxed:
		return false, nil
	case name != d.Organization && !strings.HasSuffix(name, "."+d.Organization):
		// An organizational domain is the domain itself or above it, so the two differ in it.
		return false, nil
	}
	tree, err := Walk(ctx, r, name)
	if err != nil {
		return false, err
	}
	return tree.OrganizationalDomain() == d.Organization, nil
}

// Identifiers has the domains of a message that SPF and DKIM authenticated (section 3.2.1).
type Identifiers struct {
	// SPF is the domain of the MAIL FROM identity, empty if the result is not "pass".
	SPF string
	// DKIM has the signing domains (tag d) of the valid signatures.
	DKIM []string
}

// Evaluation is the result of DMARC for one message.
type Evaluation struct {
	Discovery
	// SPFAligned and DKIMAligned report whether an authenticated domain of the mechanism is
	// aligned with the author domain.
	SPFAligned, DKIMAligned bool
}

// Pass reports whether the message passes DMARC (section 5.3.5). It is false if DMARC does
// not apply.
func (e Evaluation) Pass() bool { return e.Applies() && (e.SPFAligned || e.DKIMAligned) }

// Evaluate decides whether a message with the author domain passes DMARC. If a query fails,
// it returns the error, unless another identifier is aligned: then the message passes in any
// case (section 5.3.6).
func Evaluate(ctx context.Context, r Resolver, author string, authenticated Identifiers) (Evaluation, error) {
	discovery, err := Discover(ctx, r, author)
	if err != nil {
		return Evaluation{}, err
	}
	e := Evaluation{Discovery: discovery}
	if !e.Applies() {
		return e, nil
	}
	var failures []error
	if authenticated.SPF != "" {
		if e.SPFAligned, err = Aligned(ctx, r, discovery, authenticated.SPF, e.Record.SPFAlignment); err != nil {
			failures = append(failures, err)
		}
	}
	for _, domain := range authenticated.DKIM {
		aligned, err := Aligned(ctx, r, discovery, domain, e.Record.DKIMAlignment)
		if err != nil {
			failures = append(failures, err)
		}
		if aligned {
			e.DKIMAligned = true
			break
		}
	}
	if e.Pass() {
		return e, nil
	}
	return e, errors.Join(failures...)
}
