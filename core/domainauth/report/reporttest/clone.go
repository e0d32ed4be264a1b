package reporttest

import (
	"regexp"
	"slices"

	"github.com/mailhelm/mailhelm/core/domainauth/report"
)

// Clone returns a copy of a record that may be kept. Its slices are nil if they are empty.
func Clone(r *report.Record) report.Record {
	c := *r
	c.Reasons, c.Signatures, c.SPFResults = slices.Clone(r.Reasons[:len(r.Reasons):len(r.Reasons)]), slices.Clone(r.Signatures), slices.Clone(r.SPFResults)
	if len(c.Reasons) == 0 {
		c.Reasons = nil
	}
	if len(c.Signatures) == 0 {
		c.Signatures = nil
	}
	if len(c.SPFResults) == 0 {
		c.SPFResults = nil
	}
	return c
}

var withoutPrefix = regexp.MustCompile(`<(/?)([a-z_]+)([ />])`)

// Prefixed returns a document with a prefix for the namespace that was declared without one.
func Prefixed(document, prefix string) string {
	tagged := withoutPrefix.ReplaceAllString(document, "<${1}"+prefix+":${2}${3}")
	return regexp.MustCompile(` xmlns="`).ReplaceAllString(tagged, " xmlns:"+prefix+`="`)
}
