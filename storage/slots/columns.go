package slots

import (
	"strconv"

	"github.com/mailhelm/mailhelm/core/attributes"
)

// TextBytes is the length in bytes of the longest text that a column of contact_slots holds
// completely. A PostgreSQL index entry can have 2,704 bytes, including the organization.
const TextBytes = 2048

// LongTexts is the column of contact_slots with the complete texts that are longer than
// TextBytes. It is a JSON object; the keys are names of other columns.
const LongTexts = "long_texts"

// kinds has the number of columns of contact_slots for each kind of value.
var kinds = []struct {
	kind  string
	count int
}{{attributes.TextSlots, 16}, {attributes.NumberSlots, 16}, {attributes.InstantSlots, 8}}

// Columns returns the names of the columns of contact_slots that hold attribute values
// (slots).
func Columns() []string {
	var names []string
	for _, of := range kinds {
		for i := range of.count {
			names = append(names, of.kind+strconv.Itoa(i+1))
		}
	}
	return names
}
