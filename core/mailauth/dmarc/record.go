package dmarc

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

// Policy is how the owner of a domain wants mail handled that fails DMARC: the Domain Owner
// Assessment Policy (section 3.2.8).
type Policy string

// The policies of the tags p, sp and np (section 4.7). The empty Policy means that there is
// none.
const (
	None       Policy = "none"
	Quarantine Policy = "quarantine"
	Reject     Policy = "reject"
)

// Relaxed returns the policy one level below: the one that applies while the owner tests the
// policy (tag t, section 4.7). None and the empty Policy stay as they are.
func (p Policy) Relaxed() Policy {
	switch p {
	case Reject:
		return Quarantine
	case Quarantine:
		return None
	default:
		return p
	}
}

// Mode is an alignment mode, the value of the tags adkim and aspf.
type Mode string

// The alignment modes (section 3.2.10).
const (
	Relaxed Mode = "r"
	Strict  Mode = "s"
)

// PSD says whether a record belongs to a public suffix domain, the value of the tag psd.
type PSD string

// The values of the tag psd (section 4.7).
const (
	// PublicSuffix marks a domain below which independent organizations have domains.
	PublicSuffix PSD = "y"
	// Organization marks an organizational domain.
	Organization PSD = "n"
	// Undeclared leaves it to the tree walk.
	Undeclared PSD = "u"
)

// Record is a DMARC policy record (section 4.7). Create it with Parse; tags that the text
// does not have, or that are not valid, have their default.
type Record struct {
	// Text is the record as published.
	Text string
	// Policy is the tag p. It is empty if the record has neither a usable policy nor a
	// report address; DMARC then does not apply to mail (section 4.10.1). See Applies.
	Policy Policy
	// SubdomainPolicy is the tag sp, and NonExistentPolicy the tag np. Each is empty without
	// the tag. For the policy of a domain, see PolicyFor.
	SubdomainPolicy, NonExistentPolicy Policy
	// DKIMAlignment is the tag adkim, and SPFAlignment the tag aspf.
	DKIMAlignment, SPFAlignment Mode
	// PSD is the tag psd.
	PSD PSD
	// Testing is the tag t: the owner asks for the policy one level below the published one.
	Testing bool
	// AggregateURIs (tag rua) and FailureURIs (tag ruf) have the valid URIs to which reports
	// are to be sent, without the obsolete limit of size.
	AggregateURIs, FailureURIs []string
	// FailureOptions has the options of the tag fo. It is empty without FailureURIs, because
	// the tag is then ignored.
	FailureOptions []string
	// Invalid has the names of known tags whose values are not valid or that occur more than
	// once, in the order of the record. They are ignored (section 4.8).
	Invalid []string
}

// ErrNotDMARC means that a text is not a DMARC policy record: it does not begin with the
// version tag v=DMARC1.
var ErrNotDMARC = errors.New("dmarc: the text does not begin with v=DMARC1")

// Parse reads the text of one TXT record, with its strings joined. It fails only with
// ErrNotDMARC. Unknown tags are ignored, among them pct of RFC 7489. Tags with a syntax
// error get their default (section 4.8).
func Parse(text string) (Record, error) {
	r := Record{Text: text, DKIMAlignment: Relaxed, SPFAlignment: Relaxed, PSD: Undeclared}
	all, err := Tags(text)
	if err != nil {
		return Record{}, err
	}
	tags := knownTags(all)
	for _, tag := range tags {
		if set := setters[tag.name]; set != nil && (tag.repeated || !set(&r, tag.value)) {
			r.Invalid = append(r.Invalid, tag.name)
		}
	}
	if len(r.FailureURIs) == 0 {
		r.FailureOptions = nil
	} else if r.FailureOptions == nil {
		r.FailureOptions = []string{"0"}
	}
	r.replaceUnusablePolicy()
	return r, nil
}

// replaceUnusablePolicy applies section 4.10.1 to a record without a valid p, or with an sp
// or np that is not valid: with a report address it counts as p=none, otherwise it has no
// policy at all.
func (r *Record) replaceUnusablePolicy() {
	if r.Policy != "" && !slices.Contains(r.Invalid, "sp") && !slices.Contains(r.Invalid, "np") {
		return
	}
	r.Policy, r.SubdomainPolicy, r.NonExistentPolicy = "", "", ""
	if len(r.AggregateURIs) > 0 {
		r.Policy = None
	}
}

// Applies reports whether mail is to be judged with the record. If not, the record still
// counts in the tree walk, which reads only the tags v and psd.
func (r Record) Applies() bool { return r.Policy != "" }

// PolicyFor returns the policy for mail of a domain to which the record applies: the tag p
// for the domain at which the record was found, and sp or np for subdomains (section
// 4.10.1). exists says whether the subdomain exists in DNS.
func (r Record) PolicyFor(subdomain, exists bool) Policy {
	switch {
	case subdomain && !exists && r.NonExistentPolicy != "":
		return r.NonExistentPolicy
	case subdomain && r.SubdomainPolicy != "":
		return r.SubdomainPolicy
	default:
		return r.Policy
	}
}

// dependsOnExistence reports whether subdomains that exist have another policy than those
// that do not.
func (r Record) dependsOnExistence() bool { return r.PolicyFor(true, true) != r.PolicyFor(true, false) }

const wsp = " \t"

// tag is a tag of a record. repeated is true for a name that occurs more than once, which
// RFC 6376 section 3.2 forbids.
type tag struct {
	name, value string
	repeated    bool
}

// Tag is one tag of a record as published, without the spaces around its name and its value.
type Tag struct{ Name, Value string }

// Tags returns the tags of the text of one TXT record in their order, without the version
// tag. Unknown tags, repeated ones and those with invalid values are among them. Text
// between two semicolons that has no equals sign is not a tag and is left out. Tags fails
// only with ErrNotDMARC.
func Tags(text string) ([]Tag, error) {
	version, rest, _ := strings.Cut(text, ";")
	name, value, _ := strings.Cut(version, "=")
	if !strings.EqualFold(strings.TrimRight(name, wsp), "v") || strings.Trim(value, wsp) != "DMARC1" {
		return nil, ErrNotDMARC
	}
	var tags []Tag
	for part := range strings.SplitSeq(rest, ";") {
		if name, value, ok := strings.Cut(part, "="); ok {
			tags = append(tags, Tag{Name: strings.Trim(name, wsp), Value: strings.Trim(value, wsp)})
		}
	}
	return tags, nil
}

// knownTags returns the tags that this package reads. Names are case-sensitive (RFC 6376
// section 3.2). A repeated name is returned once, at its first place.
func knownTags(all []Tag) []tag {
	var tags []tag
	for _, t := range all {
		if setters[t.Name] == nil {
			continue
		}
		if at := slices.IndexFunc(tags, func(known tag) bool { return known.name == t.Name }); at >= 0 {
			tags[at].repeated = true
			continue
		}
		tags = append(tags, tag{name: t.Name, value: t.Value})
	}
	return tags
}

// setters has a function for each tag but v. It sets the field and returns true, or leaves
// the default and returns false for a value that is not valid. Values are case-insensitive,
// as the literals in section 4.8 are.
var setters = map[string]func(*Record, string) bool{
	"p":     func(r *Record, v string) bool { return choose(&r.Policy, v, None, Quarantine, Reject) },
	"sp":    func(r *Record, v string) bool { return choose(&r.SubdomainPolicy, v, None, Quarantine, Reject) },
	"np":    func(r *Record, v string) bool { return choose(&r.NonExistentPolicy, v, None, Quarantine, Reject) },
	"adkim": func(r *Record, v string) bool { return choose(&r.DKIMAlignment, v, Relaxed, Strict) },
	"aspf":  func(r *Record, v string) bool { return choose(&r.SPFAlignment, v, Relaxed, Strict) },
	"psd":   func(r *Record, v string) bool { return choose(&r.PSD, v, PublicSuffix, Organization, Undeclared) },
	"rua":   func(r *Record, v string) bool { return readURIs(&r.AggregateURIs, v) },
	"ruf":   func(r *Record, v string) bool { return readURIs(&r.FailureURIs, v) },
	"fo":    func(r *Record, v string) bool { return readFailureOptions(&r.FailureOptions, v) },
	"t": func(r *Record, v string) bool {
		var flag string
		ok := choose(&flag, v, "y", "n")
		r.Testing = flag == "y"
		return ok
	},
}

// choose sets the field to the choice that equals the value without regard to case.
func choose[T ~string](field *T, value string, choices ...T) bool {
	for _, choice := range choices {
		if strings.EqualFold(value, string(choice)) {
			*field = choice
			return true
		}
	}
	return false
}

// readURIs sets the field to the valid URIs of a list. It returns false if any URI is not
// valid.
func readURIs(field *[]string, list string) bool {
	valid := true
	for text := range strings.SplitSeq(list, ",") {
		if uri, ok := readURI(strings.Trim(text, wsp)); ok {
			*field = append(*field, uri)
		} else {
			valid = false
		}
	}
	return valid
}

// readURI returns a report URI without the obsolete limit of size after an exclamation mark
// (section 4.8).
func readURI(text string) (string, bool) {
	text, size, limited := strings.Cut(text, "!")
	if limited && !isReportSize(size) {
		return "", false
	}
	uri, err := url.Parse(text)
	if err != nil || uri.Scheme == "" || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", false
	}
	if uri.Scheme == "mailto" {
		at := strings.LastIndexByte(uri.Opaque, '@')
		if at < 1 {
			return "", false
		}
		domain, _, _ := strings.Cut(uri.Opaque[at+1:], "?")
		if _, ok := Name(domain); !ok {
			return "", false
		}
	} else if uri.Opaque == "" && uri.Host == "" {
		return "", false
	}
	return text, true
}

func isReportSize(s string) bool {
	if s != "" && strings.IndexByte("kmgtKMGT", s[len(s)-1]) >= 0 {
		s = s[:len(s)-1]
	}
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

// readFailureOptions sets the field to the options of a fo tag: each at most once, and not
// both 0 and 1.
func readFailureOptions(field *[]string, list string) bool {
	var options []string
	for option := range strings.SplitSeq(strings.ToLower(list), ":") {
		option = strings.Trim(option, wsp)
		if !slices.Contains([]string{"0", "1", "d", "s"}, option) || slices.Contains(options, option) {
			return false
		}
		options = append(options, option)
	}
	if slices.Contains(options, "0") && slices.Contains(options, "1") {
		return false
	}
	*field = options
	return true
}
