package contactfile

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// The contact fields that a column of the file may set. A column may also set
// attributes.NAME or topics.NAME.
const (
	email          = "email"
	externalID     = "external_id"
	unsubscribeAll = "unsubscribe_all"
	lists          = "lists"

	attributePrefix = "attributes."
	topicPrefix     = "topics."
)

// maxQuoted is the maximum length of a header in a Row.Fault, in characters. A header may
// have 64 KiB, and every row of a file may have a fault.
const maxQuoted = 100

// listSeparator separates the keys of several lists in one cell.
const listSeparator = "|"

// column is what a column of the file sets: a contact field, an attribute or a topic. The
// zero value means that the column is ignored.
type column struct{ field, attribute, topic string }

// String returns what the column sets, in the form of a value of Config.Map, such as
// "attributes.plan". It returns "" for an ignored column.
func (c column) String() string {
	switch {
	case c.attribute != "":
		return attributePrefix + c.attribute
	case c.topic != "":
		return topicPrefix + c.topic
	}
	return c.field
}

// RejectedColumns are the two columns added to the file of rejected rows: the line number
// in the imported file, and the reason.
var RejectedColumns = []string{"rejected_line", "rejected_reason"}

// IsRejectedColumn reports whether a header is one of RejectedColumns. An import ignores
// columns with such a header.
func IsRejectedColumn(header string) bool { return slices.Contains(RejectedColumns, header) }

// columnsOf determines from each header what its column sets. It ignores case in headers
// and reads blanks and dashes as underscores. It fails for an unknown header, unless
// cfg.IgnoreUnknown is true, and for two columns that set the same field, attribute or
// topic. It also fails if no column identifies a contact.
func columnsOf(header []string, cfg Config) ([]column, error) {
	if cfg.Targets != nil {
		return targetColumns(header, cfg.Targets, cfg.Attributes)
	}
	columns := make([]column, len(header))
	seen := map[column]string{}
	unused := maps.Clone(cfg.Map)
	var unknown []string
	for i, name := range header {
		target, mapped := cfg.Map[name]
		delete(unused, name)
		if mapped && target == "" || !mapped && IsRejectedColumn(name) {
			continue
		}
		if !mapped {
			target = name
		}
		c, known := meaning(target, cfg.Attributes)
		if !known {
			if mapped {
				return nil, fmt.Errorf("there is no field or attribute %q to map the column %q to", target, name)
			}
			unknown = append(unknown, name)
			continue
		}
		if other, twice := seen[c]; twice {
			return nil, &TwiceMappedError{First: other, Second: name, Target: c.String()}
		}
		seen[c], columns[i] = name, c
	}
	return columns, checkColumns(seen, unknown, unused, cfg)
}

// checkColumns returns an error if cfg.Map names a header that the file does not have, or if
// no column identifies a contact. Unless cfg ignores unknown headers, it also returns an
// error for them.
func checkColumns(seen map[column]string, unknown []string, unused map[string]string, cfg Config) error {
	if len(unused) > 0 {
		return fmt.Errorf("there is no column %q to map", slices.Sorted(maps.Keys(unused))[0])
	}
	if len(unknown) > 0 && !cfg.IgnoreUnknown {
		return &UnknownColumnsError{Columns: unknown}
	}
	_, byAddress := seen[column{field: email}]
	_, byID := seen[column{field: externalID}]
	if !byAddress && !byID {
		return ErrNoIdentity
	}
	return nil
}

// fieldNames replaces blanks and dashes in a header by underscores, so that the header can
// be compared with field names.
var fieldNames = strings.NewReplacer(" ", "_", "-", "_")

// aliases maps other common column headers to the field that they mean.
var aliases = map[string]string{"e_mail": email, "email_address": email, "e_mail_address": email}

// meaning returns the field, attribute or topic that target names, and whether it exists.
// target is a header of the file or a value of Config.Map; attributes are the names of the
// registered attributes. Every name after "topics." counts as existing, because core/bulk
// checks topics later.
func meaning(target string, attributes []string) (column, bool) {
	target = strings.TrimSpace(target)
	if name, found := strings.CutPrefix(target, topicPrefix); found {
		return column{topic: name}, name != ""
	}
	if name, found := strings.CutPrefix(target, attributePrefix); found {
		return column{attribute: name}, slices.Contains(attributes, name)
	}
	name := fieldNames.Replace(strings.ToLower(target))
	if alias := aliases[name]; alias != "" {
		name = alias
	}
	switch name {
	case email, externalID, unsubscribeAll, lists:
		return column{field: name}, true
	}
	return column{attribute: name}, slices.Contains(attributes, name)
}

// Mapping returns what each column of the file sets, such as "email" or "attributes.plan",
// and "" for an ignored column.
func (r *Reader) Mapping() []string {
	all := make([]string, len(r.columns))
	for i, c := range r.columns {
		all[i] = c.String()
	}
	return all
}

// row converts the cells of a record to the JSON of one contact in a bulk write. If that is
// impossible, it returns the reason instead. It leaves out empty cells, unless they clear
// an attribute. It removes the apostrophe with which an export of contacts marks a text that
// looks like a formula. Package core/bulk checks the values later.
func (r *Reader) row(cells []string) (json.RawMessage, string) {
	if len(cells) != len(r.columns) {
		return nil, fmt.Sprintf("must have as many fields as the header: %d, not %d", len(r.columns), len(cells))
	}
	b := &rowBuilder{text: append(make([]byte, 0, 256), '{')}
	var attributes, topics rowBuilder
	for i, c := range r.columns {
		cell := cells[i]
		if c == (column{}) || cell == "" && (c.attribute == "" || !r.cfg.ClearEmpty) {
			continue
		}
		if !utf8.ValidString(cell) {
			return nil, fmt.Sprintf("column %.*q is not in UTF-8: the file may be in Latin-1 or Windows-1252", maxQuoted, r.header[i])
		}
		if strings.IndexByte(cell, 0) >= 0 {
			return nil, fmt.Sprintf("column %.*q holds a NUL character", maxQuoted, r.header[i])
		}
		fault := ""
		switch {
		case c.attribute != "" && cell == "":
			attributes.literal(c.attribute, "null")
		case c.attribute != "":
			attributes.member(c.attribute, unescapeFormula(cell))
		case c.topic != "":
			fault = topics.choice(c.topic, cell)
		default:
			fault = b.field(c.field, unescapeFormula(cell))
		}
		if fault != "" {
			return nil, fmt.Sprintf("column %.*q %s", maxQuoted, r.header[i], fault)
		}
	}
	if r.cfg.Rebind {
		b.literal("rebind_external_id", "true")
	}
	b.object("attributes", attributes.text)
	b.object("topic_preferences", topics.text)
	return append(b.text, '}'), ""
}

// identity returns the address and the external id of a valid record, as row writes them.
func (r *Reader) identity(cells []string) (address, id string) {
	for i, c := range r.columns {
		switch c.field {
		case email:
			address = strings.TrimSpace(unescapeFormula(cells[i]))
		case externalID:
			id = unescapeFormula(cells[i])
		}
	}
	return address, id
}

// rowBuilder builds the text of a JSON object, member by member. text lacks the closing
// brace.
type rowBuilder struct{ text []byte }

// name appends the name of a JSON member and a colon. It puts a comma before the name
// unless the member is the first.
func (b *rowBuilder) name(name string) {
	if n := len(b.text); n > 0 && b.text[n-1] != '{' {
		b.text = append(b.text, ',')
	}
	b.quote(name)
	b.text = append(b.text, ':')
}

// quote appends s as a JSON string. s must be valid UTF-8.
func (b *rowBuilder) quote(s string) { b.text, _ = jsontext.AppendQuote(b.text, s) }

// member appends a JSON member whose value is a string.
func (b *rowBuilder) member(name, value string) {
	b.name(name)
	b.quote(value)
}

// literal appends a JSON member whose value is given as JSON text, such as true or null.
func (b *rowBuilder) literal(name, value string) {
	b.name(name)
	b.text = append(b.text, value...)
}

// object appends a JSON member whose value is an object. The parameter members is the text
// of that object without braces. If this text is empty, it appends nothing.
func (b *rowBuilder) object(name string, members []byte) {
	if len(members) > 0 {
		b.name(name)
		b.text = append(append(append(b.text, '{'), members...), '}')
	}
}

// choice appends the choice about a topic, OPT_IN or OPT_OUT, to the row's JSON object. It
// accepts common words for both choices, such as "yes" and "unsubscribed". It returns "",
// or for any other cell the reason to reject the row.
func (b *rowBuilder) choice(topic, cell string) string {
	switch strings.ToLower(strings.TrimSpace(cell)) {
	case "opt_in", "true", "yes", "1", "subscribed":
		b.member(topic, "OPT_IN")
	case "opt_out", "false", "no", "0", "unsubscribed":
		b.member(topic, "OPT_OUT")
	default:
		return "must be OPT_IN or OPT_OUT"
	}
	return ""
}

// field appends a contact field with the value in cell to the row's JSON text. It removes
// white space around the value, except around an external id. If the cell is invalid, it
// returns the reason to reject the row, otherwise "".
func (b *rowBuilder) field(field, cell string) string {
	switch field {
	case unsubscribeAll:
		switch strings.ToLower(strings.TrimSpace(cell)) {
		case "true", "yes", "1":
			b.literal(field, "true")
		case "false", "no", "0":
			b.literal(field, "false")
		default:
			return "must be true or false"
		}
	case lists:
		b.name(field)
		b.text = append(b.text, '[')
		for i, name := range strings.Split(cell, listSeparator) {
			if i > 0 {
				b.text = append(b.text, ',')
			}
			b.quote(strings.TrimSpace(name))
		}
		b.text = append(b.text, ']')
	case email:
		b.member(field, strings.TrimSpace(cell))
	default:
		b.member(field, cell)
	}
	return ""
}
