package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// progressWidth is the width of the bar in characters. progressEvery is the shortest
// time between two redraws.
const (
	progressWidth = 30
	progressEvery = 100 * time.Millisecond
)

// Progress is a line on a terminal that shows the progress of a long command. If the
// output is not a terminal, it writes nothing. It is not safe for concurrent use.
type Progress struct {
	to    io.Writer // nil for none
	total int64     // 0 if unknown
	clock core.Clock
	// drawn is when the line was last drawn. length is its length in bytes, so that a
	// shorter line can overwrite it.
	drawn  time.Time
	length int
}

// NewProgress returns a progress line on w. total is the size of the work, 0 if unknown.
func NewProgress(w io.Writer, total int64, clock core.Clock) *Progress {
	p := &Progress{total: total, clock: clock}
	if isTerminal(w) {
		p.to = w
	}
	return p
}

// isTerminal reports whether w is a character device, such as a terminal. Pipes and
// regular files are not, so scripts get no progress lines.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// Resize sets the size of the work, for callers that did not know it at first.
func (p *Progress) Resize(total int64) { p.total = total }

// Show redraws the line with a note, at most ten times a second.
func (p *Progress) Show(done int64, note string) {
	now := p.clock()
	if p.to == nil || now.Sub(p.drawn) < progressEvery {
		return
	}
	p.drawn = now
	text := p.bar(done) + note
	// Blanks overwrite the rest of a longer line.
	_, _ = fmt.Fprintf(p.to, "\r%s%s", text, strings.Repeat(" ", max(0, p.length-len(text)))) // decoration
	p.length = len(text)
}

// bar returns the bar and the percentage for done, followed by two blanks. It returns
// "" if the total is unknown. Values outside the total count as 0 or 100 %.
func (p *Progress) bar(done int64) string {
	if p.total <= 0 {
		return ""
	}
	share := min(max(float64(done)/float64(p.total), 0), 1)
	filled := int(share * progressWidth)
	return fmt.Sprintf("[%s%s] %3.0f%%  ", strings.Repeat("#", filled), strings.Repeat(".", progressWidth-filled), share*100)
}

// End removes the line. Call it before other output on the same terminal. It may be
// repeated.
func (p *Progress) End() {
	if p.to != nil && p.length > 0 {
		_, _ = fmt.Fprintf(p.to, "\r%s\r", strings.Repeat(" ", p.length)) // decoration
	}
}
