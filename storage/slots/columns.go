package slots

import (
	"strconv"

	"github.com/mailhelm/mailhelm/core/attributes"
)

// TextBytes is the length in bytes of the longest text that a slot column holds completely.
// A PostgreSQL index entry can have 2,704 bytes, including the organization.
const TextBytes = 2048

// LongTexts is the column with the complete texts that are longer than TextBytes, as a JSON
// object by slot column.
const LongTexts = "long_texts"

// kinds has the number of slot columns for each kind of value.
var kinds = []struct {
	kind  string
	count int
}{{attributes.TextSlots, 16}, {attributes.NumberSlots, 16}, {attributes.InstantSlots, 8}}

// Columns returns the names of the slot columns of the table contact_slots.
func Columns() []string {
	var names []string
	for _, of := range kinds {
		for i := range of.count {
			names = append(names, of.kind+strconv.Itoa(i+1))
		}
	}
	return names
}
