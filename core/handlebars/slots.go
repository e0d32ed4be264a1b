package handlebars

import "strings"

// slot is a value, asset or block outside of all blocks: the operations from first up to end,
// without end.
type slot struct{ first, end int }

// Fixed returns the texts of the template that are the same for all data: those before, between
// and after the slots, so one more than there are slots. A text may be "". A slot is a tag or a
// block that is not inside another block.
func (t *Template) Fixed() []string {
	fixed := make([]string, 0, len(t.slots)+1)
	at := 0
	for _, s := range append(t.slots[:len(t.slots):len(t.slots)], slot{first: len(t.operations)}) {
		var text strings.Builder
		for _, o := range t.operations[at:s.first] {
			text.WriteString(o.text)
		}
		fixed, at = append(fixed, text.String()), s.end
	}
	return fixed
}

// ExecuteSlots appends the outputs of the slots to dst, and to ends the length of dst after each
// of them. With the texts of Fixed around them, the outputs are that of Execute, whose errors
// and limits apply.
func (t *Template) ExecuteSlots(dst []byte, ends []int, data map[string]any, limits Limits) ([]byte, []int, error) {
	var e execution
	start := len(dst)
	e.begin(t, dst, data, limits)
	defer e.release()
	for _, s := range t.slots {
		if err := e.run(s.first, s.end); err != nil {
			return dst[:start], ends, err
		}
		ends = append(ends, len(e.dst))
	}
	return e.dst, ends, nil
}
