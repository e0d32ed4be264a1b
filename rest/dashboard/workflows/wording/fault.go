package wording

import (
	"fmt"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// Fault is a fault of a source, or a warning about it, with the line in which it is: the text
// before it, the faulty word and the text after it.
type Fault struct {
	Line, Column                  int
	Message, Expected, Suggestion string
	Before, Word, After           string
}

// Place returns the place of the fault in words.
func (f Fault) Place() string { return fmt.Sprintf("Line %d, column %d", f.Line, f.Column) }

// Excerpt returns the line of the source that has a place: at most 60 characters before the
// place, the word at the place, and at most 60 characters after it.
func Excerpt(source string, line, column int) (before, word, after string) {
	const most = 60
	lines := strings.Split(source, "\n")
	if line < 1 || line > len(lines) {
		return "", "", ""
	}
	text := []rune(lines[line-1])
	at := max(0, min(column-1, len(text)))
	end := at
	for end < len(text) && end < at+most && !strings.ContainsRune(" \t()[],{}:", text[end]) {
		end++
	}
	end = max(end, min(at+1, len(text)))
	before, after = string(text[max(0, at-most):at]), string(text[end:min(len(text), end+most)])
	if at > most {
		before = "…" + before
	}
	if len(text)-end > most {
		after += "…"
	}
	return core.OnlyVisible(before), core.OnlyVisible(string(text[at:end])), core.OnlyVisible(after)
}
