package measuring

import (
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/domainauth/timeline"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// maxTitle is the greatest length of a title in octets, and maxChanges the greatest number of
// changes of a policy in it.
const (
	maxTitle   = 200
	maxChanges = 3
)

// titleOf says in words what an event of a domain changed.
func titleOf(e timeline.Event, domain string) string {
	var title, expected string
	selector, at, isKey := strings.Cut(e.Subject, "._domainkey.")
	switch {
	case e.Kind == timeline.PolicyChange:
		title, expected = policyTitle(e.Old, e.New), "_dmarc."+domain
	case isKey:
		title = recordTitle("A DKIM key", e.Old, e.New) + ": " + plain(selector)
		expected = selector + "._domainkey." + domain
	default:
		title, expected = spfTitle(e.Old, e.New), domain
	}
	if e.Subject != expected {
		where := strings.TrimPrefix(plain(e.Subject), "_dmarc.")
		if isKey {
			where = plain(at)
		}
		title += " (record of " + where + ")"
	}
	if len(title) > maxTitle {
		title = title[:maxTitle-3] + "..."
	}
	return title
}

// recordTitle says that a record came, went or changed.
func recordTitle(record string, before, after *string) string {
	switch {
	case before == nil:
		return record + " was published"
	case after == nil:
		return record + " was removed"
	}
	return record + " changed"
}

// policyTitle says what changed in a DMARC record, the most important first.
func policyTitle(before, after *string) string {
	older, newer := parsed(before), parsed(after)
	switch {
	case before == nil && newer.Policy == "":
		return "A DMARC record without a valid policy was published"
	case before == nil:
		return "A DMARC record was published, with the policy " + string(newer.Policy)
	case after == nil:
		return "The DMARC record was removed"
	}
	var changes []string
	add := func(what, from, to string) {
		if from != to {
			changes = append(changes, what+" went from "+from+" to "+to)
		}
	}
	add("the policy", orAbsent(older.Policy), orAbsent(newer.Policy))
	if from, to := older.PolicyFor(true, true), newer.PolicyFor(true, true); from != older.Policy || to != newer.Policy {
		add("the policy for subdomains", orAbsent(from), orAbsent(to))
	}
	switch {
	case newer.Testing && !older.Testing:
		changes = append(changes, "test mode (t=y) was switched on")
	case older.Testing && !newer.Testing:
		changes = append(changes, "test mode (t=y) was switched off")
	}
	add("alignment of DKIM", modeName(older.DKIMAlignment), modeName(newer.DKIMAlignment))
	add("alignment of SPF", modeName(older.SPFAlignment), modeName(newer.SPFAlignment))
	if !slices.Equal(older.AggregateURIs, newer.AggregateURIs) {
		changes = append(changes, "the report addresses changed")
	}
	if len(changes) == 0 {
		return "The DMARC record changed, and its policy did not"
	}
	if len(changes) > maxChanges {
		changes = append(changes[:maxChanges], "and more")
	}
	first := changes[0]
	changes[0] = strings.ToUpper(first[:1]) + first[1:]
	return strings.Join(changes, ", ")
}

// parsed returns a record, the zero one without a readable text.
func parsed(text *string) dmarc.Record {
	if text == nil {
		return dmarc.Record{}
	}
	record, err := dmarc.Parse(*text)
	if err != nil {
		return dmarc.Record{}
	}
	return record
}

func orAbsent(p dmarc.Policy) string {
	if p == "" {
		return "no valid one"
	}
	return string(p)
}

func modeName(m dmarc.Mode) string {
	if m == dmarc.Strict {
		return "strict"
	}
	return "relaxed"
}

// spfTitle names the terms of an SPF record that came and went.
func spfTitle(before, after *string) string {
	title := recordTitle("The SPF record", before, after)
	if before == nil {
		return "An SPF record was published"
	}
	if after == nil {
		return title
	}
	older, newer := strings.Fields(*before), strings.Fields(*after)
	if added := without(newer, older); len(added) > 0 {
		title += ", added " + plain(strings.Join(added, " "))
	}
	if removed := without(older, newer); len(removed) > 0 {
		title += ", removed " + plain(strings.Join(removed, " "))
	}
	return title
}

// without returns the terms that others does not have.
func without(terms, others []string) []string {
	var all []string
	for _, term := range terms {
		if !slices.Contains(others, term) {
			all = append(all, term)
		}
	}
	return all
}

// plain returns a text of DNS with printable ASCII characters alone, so that it cannot imitate
// another one, and so that it can be cut anywhere.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text[:min(len(text), maxTitle)])
}
