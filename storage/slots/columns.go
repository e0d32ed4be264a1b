package slots

import (
	"strconv"

	"github.com/mailhelm/mailhelm/core/attributes"
)

// TextBytes is the length in bytes of the longest text that a slot holds whole. A
// PostgreSQL index entry has room for 2,704 bytes, including the organization.
const TextBytes = 2048

// LongTexts is the column with the complete longer texts, as a JSON object by slot.
const LongTexts = "long_texts"

// kinds lists the number of slots of each kind.
var kinds = []struct {
	kind  string
	count int
}{{attributes.TextSlots, 16}, {attributes.NumberSlots, 16}, {attributes.InstantSlots, 8}}

// Columns returns the columns of contact_slots that hold values.
func Columns() []string {
	var names []string
	for _, of := range kinds {
		for i := range of.count {
			names = append(names, of.kind+strconv.Itoa(i+1))
		}
	}
	return names
}
