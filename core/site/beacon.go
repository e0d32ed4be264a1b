package site

import (
	"bytes"
	"errors"
	"io"
	"math"
	"regexp"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/mailhelm/mailhelm/core/visitorids"
)

// MaxBody is the maximum size of a beacon in bytes.
const MaxBody = 8 << 10

// The limits of the values of a beacon. Longer texts are cut.
const (
	maxCustom = 10   // custom properties that are stored
	maxText   = 2048 // characters of a text
	maxID     = 256  // bytes of a key and of each id
)

// visit is the name of the activity that a website reports once for each session.
const visit = "site_visit"

var (
	eventName    = regexp.MustCompile(`^site_[a-z0-9_]{1,60}$`)
	propertyName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)
)

// isEventName reports whether a beacon may have the name. The activity of issuing a visitor id
// has a name of the same form, but browsers cannot report it.
func isEventName(name string) bool {
	return eventName.MatchString(name) && name != visitorids.Identified
}

// pageProperties are the members of a beacon that become properties of the activity, in the
// order of the stored properties. Custom properties cannot have these names.
var pageProperties = []string{"path", "referrer", "title", "utm_source", "utm_medium", "utm_campaign"}

// Beacon is what browser code reports.
type Beacon struct {
	SiteKey, VisitorID, SessionID, EventID, Name string
	// Properties is a JSON object with the properties of the page, then the custom ones.
	Properties []byte
}

// errMalformed is the error of a body that is not a beacon.
var errMalformed = errors.New("malformed beacon")

// Read reads a beacon: a JSON object with the members site_key, visitor_id, session_id,
// event_id and name, the properties of the page, and an object properties with custom
// properties. It ignores other members, and treats null like an absent member. It fails for a
// body that is not such an object, has a repeated member or lacks one of site_key, visitor_id
// and name. It checks neither the name nor the ids.
//
// It keeps the first 10 custom properties whose name and value are valid, and drops the
// others.
func Read(body []byte) (Beacon, error) {
	if len(body) > MaxBody {
		return Beacon{}, errMalformed
	}
	r := reader{d: jsontext.NewDecoder(bytes.NewReader(body)), page: make([]*string, len(pageProperties))}
	if err := r.readMembers(r.member); err != nil {
		return Beacon{}, errMalformed
	}
	if _, err := r.d.ReadToken(); !errors.Is(err, io.EOF) {
		return Beacon{}, errMalformed
	}
	b := r.Beacon
	if b.SiteKey == "" || b.VisitorID == "" || b.Name == "" || max(len(b.SiteKey), len(b.VisitorID), len(b.SessionID), len(b.EventID)) > maxID {
		return Beacon{}, errMalformed
	}
	b.Properties = r.properties()
	return b, nil
}

// reader reads one beacon.
type reader struct {
	Beacon
	d      *jsontext.Decoder
	page   []*string // the values of pageProperties, nil for absent ones
	custom []byte    // custom properties as JSON members, each after a comma
	kept   int
}

// readMembers reads an object and calls f for the name of each member; f reads the value.
func (r *reader) readMembers(f func(name string) error) error {
	if open, err := r.d.ReadToken(); err != nil || open.Kind() != '{' {
		return errMalformed
	}
	for r.d.PeekKind() == '"' {
		name, err := r.d.ReadToken()
		if err != nil {
			return err
		}
		if err := f(name.String()); err != nil {
			return err
		}
	}
	_, err := r.d.ReadToken()
	return err
}

// member reads the value of a member of the beacon.
func (r *reader) member(name string) error {
	switch name {
	case "site_key":
		return r.text(&r.SiteKey)
	case "visitor_id":
		return r.text(&r.VisitorID)
	case "session_id":
		return r.text(&r.SessionID)
	case "event_id":
		return r.text(&r.EventID)
	case "name":
		return r.text(&r.Name)
	case "properties":
		if r.d.PeekKind() == 'n' {
			return r.d.SkipValue()
		}
		return r.readMembers(r.customProperty)
	}
	if i := pageProperty(name); i >= 0 {
		if r.d.PeekKind() == 'n' {
			return r.d.SkipValue()
		}
		r.page[i] = new(string)
		return r.text(r.page[i])
	}
	return r.d.SkipValue()
}

// pageProperty returns the place of a name in pageProperties, -1 if it is not there.
func pageProperty(name string) int {
	for i, p := range pageProperties {
		if p == name {
			return i
		}
	}
	return -1
}

// text reads a string or null.
func (r *reader) text(into *string) error {
	token, err := r.d.ReadToken()
	if err != nil {
		return err
	}
	switch token.Kind() {
	case '"':
		*into = token.String()
	case 'n':
	default:
		return errMalformed
	}
	return nil
}

// customProperty reads the value of a custom property and keeps it if it is valid.
func (r *reader) customProperty(name string) error {
	value, err := r.d.ReadValue()
	if err != nil {
		return err
	}
	if r.kept == maxCustom || !propertyName.MatchString(name) || pageProperty(name) >= 0 {
		return nil
	}
	switch value.Kind() {
	case '"':
		text, err := jsontext.AppendUnquote(nil, value)
		if err != nil {
			return err
		}
		r.keep(name)
		r.custom = appendText(r.custom, string(text))
	case '0':
		if n, err := strconv.ParseFloat(string(value), 64); err != nil || math.IsInf(n, 0) {
			return nil // a number that databases cannot compare
		}
		r.keep(name)
		r.custom = append(r.custom, value...)
	case 't', 'f':
		r.keep(name)
		r.custom = append(r.custom, value...)
	}
	return nil
}

// keep appends the name of a custom property.
func (r *reader) keep(name string) {
	r.kept++
	r.custom = append(r.custom, `,"`...)
	r.custom = append(r.custom, name...) // has no characters to escape
	r.custom = append(r.custom, `":`...)
}

// properties returns the properties as JSON.
func (r *reader) properties() []byte {
	b := make([]byte, 0, 64+len(r.custom))
	for i, value := range r.page {
		if value != nil {
			b = append(b, `,"`...)
			b = append(b, pageProperties[i]...)
			b = append(b, `":`...)
			b = appendText(b, *value)
		}
	}
	b = append(b, r.custom...)
	if len(b) == 0 {
		return []byte(`{}`)
	}
	b[0] = '{'
	return append(b, '}')
}

// appendText appends at most maxText characters of a text as a JSON string.
func appendText(b []byte, text string) []byte {
	if len(text) > maxText && utf8.RuneCountInString(text) > maxText {
		text = string([]rune(text)[:maxText])
	}
	quoted, err := jsontext.AppendQuote(b, text)
	if err != nil {
		return append(b, `""`...) // not reached: text comes from valid JSON
	}
	return quoted
}
