package languageserver

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzEditing checks that no text and no place in it makes the server panic, and that ranges
// are inside of the text.
func FuzzEditing(f *testing.F) {
	f.Add("workflow \"W\" v1 {\n enter on segment \"new-customers\"\n send \"wel", 50)
	f.Add("wait up to 3 days until attr.plan = \"é😀\" {\n", 44)
	f.Add("\r\n\"", 2)
	schema := known.Schema()
	f.Fuzz(func(t *testing.T, text string, offset int) {
		if offset < 0 || offset > len(text) || !utf8.ValidString(text) || offset < len(text) && !utf8.RuneStart(text[offset]) {
			return
		}
		meaningAt(text, offset, known)
		last := position{strings.Count(text, "\n"), 0}
		inside := func(s span) bool {
			return offsetAt(text, s.Start) <= offsetAt(text, s.End) && s.End.Line <= last.Line && s.Start == positionAt(text, offsetAt(text, s.Start))
		}
		for _, i := range completionsAt(text, offset, known) {
			if !inside(i.TextEdit.Range) || offsetAt(text, i.TextEdit.Range.Start) > offset {
				t.Fatalf("the completion %+v is not at %d of %q", i, offset, text)
			}
		}
		for _, d := range diagnose(text, &schema) {
			if !inside(d.Range) {
				t.Fatalf("%+v is outside of %q", d, text)
			}
		}
	})
}
