package dmarc

import (
	"context"
	"fmt"
)

// Resolver asks DNS. Names are passed in the form of Name, without a final dot, and are
// absolute: no search domain may be appended.
type Resolver interface {
	// TXT returns the TXT records of a name, each with its strings joined in order (section
	// 4.5). For a name without TXT records, and for one that does not exist, it returns no
	// records and no error. Any error means that it is not known what the name has.
	TXT(ctx context.Context, name string) ([]string, error)
	// Exists reports whether a name exists: it is false only if a name server answered
	// NXDOMAIN (section 3.2.13).
	Exists(ctx context.Context, name string) (bool, error)
}

// maxQueries is the greatest number of queries of one tree walk (section 4.10).
const maxQueries = 8

// Published is a record and the domain below which it was found: the record of example.com
// is at _dmarc.example.com.
type Published struct {
	Domain string
	Record Record
}

// Tree is the result of a DNS tree walk.
type Tree struct {
	// Domain is where the walk started, in the form of Name.
	Domain string
	// Published has the records that were found, from the longest domain to the shortest.
	Published []Published
}

// Walk performs the DNS tree walk of section 4.10, from a domain towards the root, with at
// most eight queries. It stops at a record with psd=n or psd=y. It fails if the domain is
// not a name, or if one query fails, because a record could then be missed.
func Walk(ctx context.Context, r Resolver, domain string) (Tree, error) {
	start, ok := Name(domain)
	if !ok {
		return Tree{}, fmt.Errorf("dmarc: %w", errName)
	}
	tree := Tree{Domain: start}
	for target := start; target != ""; target = next(target) {
		record, found, err := lookup(ctx, r, target)
		if err != nil {
			return Tree{}, err
		}
		if !found {
			continue
		}
		tree.Published = append(tree.Published, Published{Domain: target, Record: record})
		if record.PSD != Undeclared {
			break
		}
	}
	return tree, nil
}

// next returns the target of the query after the one for target, or "" at the end. From a
// domain of eight or more labels it skips to seven labels (step 4 of section 4.10).
func next(target string) string { return lastLabels(parent(target), maxQueries-1) }

// lookup returns the record of a domain. Several records of one domain count as none (steps
// 2 and 6 of section 4.10).
func lookup(ctx context.Context, r Resolver, domain string) (Record, bool, error) {
	name := "_dmarc." + domain
	if len(name) > maxName {
		return Record{}, false, nil
	}
	texts, err := r.TXT(ctx, name)
	if err != nil {
		return Record{}, false, fmt.Errorf("dmarc: look up the policy record: %w", err)
	}
	var records []Record
	for _, text := range texts {
		if record, err := Parse(text); err == nil {
			records = append(records, record)
		}
	}
	if len(records) != 1 {
		return Record{}, false, nil
	}
	return records[0], true, nil
}

// OrganizationalDomain returns the organizational domain of the domain where the walk
// started (section 4.10.2).
func (t Tree) OrganizationalDomain() string {
	for _, p := range t.Published {
		switch {
		case p.Record.PSD == Organization:
			return p.Domain
		case p.Record.PSD == PublicSuffix:
			// One label below, or the domain itself if the walk started there.
			return lastLabels(t.Domain, countLabels(p.Domain)+1)
		}
	}
	if last := len(t.Published) - 1; last >= 0 {
		return t.Published[last].Domain
	}
	return t.Domain
}

// policy returns the record for mail from the domain where the walk started: that of the
// domain itself, otherwise that of the organizational domain, otherwise that of the public
// suffix (section 4.10.1).
func (t Tree) policy() (Published, bool) {
	organization := t.OrganizationalDomain()
	for _, p := range t.Published {
		if p.Domain == t.Domain || p.Domain == organization || p.Record.PSD == PublicSuffix {
			return p, true
		}
	}
	return Published{}, false
}
