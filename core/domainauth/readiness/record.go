package readiness

import (
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// Change is a difference of one tag between the published record and the one to publish.
// From and To are the values as written. From is nil if the published record does not have
// the tag, To if the new one does not. If the published record has the tag several times,
// From is the text from its first value to its last.
type Change struct {
	Tag      string
	From, To *string
}

// recommend returns the text of the record for a target and the differences from the record
// that the domain itself publishes. The record begins with p, sp (equal to p) and rua. It
// keeps the report URIs and adds the service's address. It keeps the other tags, unknown ones
// too, in their order, except for those that
//
//   - would weaken the target: t=y, and an np weaker than the target;
//   - have no effect and could confuse receivers: invalid and repeated tags, tags that differ
//     from known ones only in case, text that is not a tag, and pct of RFC 7489;
//   - belong to another domain: psd of a record that is inherited.
//
// A domain without a record of its own gets one with the tags of the record that applies to
// it, because that one no longer applies then.
func recommend(d dmarc.Discovery, target dmarc.Policy, reportAddress string) (string, []Change) {
	var present []dmarc.Tag
	if d.Domain != "" {
		present, _ = dmarc.Tags(d.Record.Text) // the text of a parsed record has tags
	}
	inherited := d.Domain != d.Author
	next := []dmarc.Tag{{Name: "p", Value: string(target)}, {Name: "sp", Value: string(target)}}
	if uris := reportURIs(d.Record, present, reportAddress); uris != "" {
		next = append(next, dmarc.Tag{Name: "rua", Value: uris})
	}
	for _, tag := range present {
		if keeps(tag, present, d.Record, target) && (!inherited || tag.Name != "psd") {
			next = append(next, tag)
		}
	}
	text := strings.Builder{}
	text.WriteString("v=DMARC1")
	for _, tag := range next {
		text.WriteString("; " + tag.Name + "=" + tag.Value)
	}
	if d.Domain == "" || inherited {
		version := "DMARC1"
		return text.String(), append([]Change{{Tag: "v", To: &version}}, changes(nil, next)...)
	}
	return text.String(), changes(present, next)
}

// knownTags has the names of the tags of RFC 9989, and pct, which it removed.
var knownTags = []string{"v", "p", "sp", "np", "adkim", "aspf", "psd", "rua", "ruf", "fo", "t", "pct"}

// keeps reports whether a tag of the present record stays as it is in the record for target.
func keeps(tag dmarc.Tag, present []dmarc.Tag, record dmarc.Record, target dmarc.Policy) bool {
	switch tag.Name {
	case "v", "p", "sp", "rua", "pct":
		return false
	case "t":
		if record.Testing {
			return false
		}
	case "np":
		if stricter(target, dmarc.Policy(strings.ToLower(tag.Value))) {
			return false
		}
	}
	known := slices.Contains(knownTags, tag.Name)
	if !known && (!isTag(tag) || slices.ContainsFunc(knownTags, func(name string) bool { return strings.EqualFold(name, tag.Name) })) {
		return false
	}
	same := 0
	for _, other := range present {
		if other.Name == tag.Name {
			same++
		}
	}
	return same == 1 && !slices.Contains(record.Invalid, tag.Name)
}

// isTag reports whether a tag is safe to copy: a name of letters, digits, underscores and
// hyphens that begins with a letter, and a value of printable ASCII characters. RFC 6376
// section 3.2 does not allow hyphens, but records have them.
func isTag(tag dmarc.Tag) bool {
	for i, c := range []byte(tag.Name) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '_' && c != '-' && (c < '0' || c > '9')) {
			return false
		}
	}
	return tag.Name != "" && !strings.ContainsFunc(tag.Value, func(r rune) bool { return r < ' ' || r > '~' })
}

// reportURIs returns the value of rua: that of the present record, with the service's address
// if it is not there. If a URI of the present record is not valid, only the valid ones stay.
func reportURIs(record dmarc.Record, present []dmarc.Tag, address string) string {
	uris := strings.Join(record.AggregateURIs, ",")
	if at := slices.IndexFunc(present, func(t dmarc.Tag) bool { return t.Name == "rua" }); at >= 0 && !slices.Contains(record.Invalid, "rua") {
		uris = present[at].Value
	}
	if address == "" || slices.ContainsFunc(record.AggregateURIs, func(uri string) bool { return isMailto(uri, address) }) {
		return uris
	}
	if uris != "" {
		uris += ","
	}
	return uris + "mailto:" + address
}

// isMailto reports whether a URI sends to the address, without regard to case and to header
// fields of the URI.
func isMailto(uri, address string) bool {
	scheme, to, _ := strings.Cut(uri, ":")
	to, _, _ = strings.Cut(to, "?")
	return strings.EqualFold(scheme, "mailto") && strings.EqualFold(to, address)
}

// changes returns the differences between two lists of tags: first those of the tags of next
// in their order, then the removed ones in theirs.
func changes(present, next []dmarc.Tag) []Change {
	var all []Change
	for _, tag := range next {
		from := valueOf(present, tag.Name)
		if from == nil || *from != tag.Value {
			all = append(all, Change{Tag: tag.Name, From: from, To: &tag.Value})
		}
	}
	for i, tag := range present {
		named := func(t dmarc.Tag) bool { return t.Name == tag.Name }
		if !slices.ContainsFunc(next, named) && slices.IndexFunc(present, named) == i {
			all = append(all, Change{Tag: tag.Name, From: valueOf(present, tag.Name)})
		}
	}
	return all
}

// valueOf returns the value of the tags with a name, nil if there is none. Several values
// are joined as they are written in a record.
func valueOf(tags []dmarc.Tag, name string) *string {
	var values []string
	for _, tag := range tags {
		if tag.Name == name {
			values = append(values, tag.Value)
		}
	}
	if values == nil {
		return nil
	}
	text := strings.Join(values, "; "+name+"=")
	return &text
}
