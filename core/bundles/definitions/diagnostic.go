package definitions

import (
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// Severity says whether a diagnostic prevents that a bundle is applied.
type Severity string

// The severities. A definition with an error is not applied, and neither is its bundle.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Diagnostic is what is wrong with a definition or a file. Path is the file in which it is wrong, which
// may be the manifest although the definition has a file of its own. Line and Column count from 1,
// Column in characters; both are 0 if the diagnostic is not about a place in the file.
type Diagnostic struct {
	Severity Severity `json:"severity" jsonschema:"enum=error,enum=warning"`
	Code     string   `json:"code" voice:"ours"`
	Message  string   `json:"message" voice:"untrusted"`
	Path     string   `json:"path,omitempty" voice:"untrusted"`
	Line     int      `json:"line,omitempty"`
	Column   int      `json:"column,omitempty"`
	// Part is the part of a template that has no place in its main file, "" otherwise. The path of
	// the part replaces it.
	Part string `json:"-"`
}

// Sentence returns the message with its place, such as: "templates/a.hbs" line 3, column 7: The tag is
// empty.
func (d Diagnostic) Sentence() string {
	var place strings.Builder
	if d.Path != "" {
		place.WriteString(core.Quote(d.Path))
	}
	if d.Line > 0 {
		fmt.Fprintf(&place, " line %d, column %d", d.Line, d.Column)
	}
	if place.Len() == 0 {
		return d.Message
	}
	return strings.TrimSpace(place.String()) + ": " + d.Message
}
