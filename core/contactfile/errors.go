package contactfile

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNoIdentity is the error of [Open] for a file without a column that identifies a
// contact.
var ErrNoIdentity = errors.New("no column is email or external_id")

// UnknownColumnsError is the error of [Open] for headers that name neither a field nor a
// registered attribute. Config.Map or Config.IgnoreUnknown avoid it.
type UnknownColumnsError struct {
	// Columns are the headers, in the order of the file.
	Columns []string
}

// Error returns a sentence with all headers.
func (e *UnknownColumnsError) Error() string {
	quoted := make([]string, len(e.Columns))
	for i, column := range e.Columns {
		quoted[i] = fmt.Sprintf("%q", column)
	}
	return "these columns are neither a field nor a registered attribute: " + strings.Join(quoted, ", ")
}

// TwiceMappedError is the error of [Open] for two columns that set the same field, attribute
// or topic.
type TwiceMappedError struct {
	// First and Second are the headers, in the order of the file.
	First, Second string
	// Target is what both set, in the form of a value of Config.Map.
	Target string
}

// Error returns a sentence that says what to do.
func (e *TwiceMappedError) Error() string {
	return fmt.Sprintf("the columns %q and %q both map to %s: ignore one of them", e.First, e.Second, e.Target)
}
