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

// Progress is a line on a terminal that shows the progress of a long command. If the output
// is not a terminal, it writes nothing. It must not be used concurrently.
type Progress struct {
	to    io.Writer // nil for none
	total int64     // 0 if unknown
	clock core.Clock
	// drawn is the time at which the line was last written. length is the line's length in
	// bytes, so that blanks can overwrite a longer line.
	drawn  time.Time
	length int
}

// NewProgress returns a progress line on w. total is the number of work units, 0 if
// unknown.
func NewProgress(w io.Writer, total int64, clock core.Clock) *Progress {
	p := &Progress{total: total, clock: clock}
	if file, ok := w.(*os.File); ok && isTerminal(file) {
		p.to = w
	}
	return p
}

// Resize sets the total number of work units, for callers that learn it late.
func (p *Progress) Resize(total int64) { p.total = total }

// Show writes the line for the given number of finished units of work, followed by the text
// note. It writes at most ten times a second and ignores calls in between.
func (p *Progress) Show(done int64, note string) {
	now := p.clock()
	if p.to == nil || now.Sub(p.drawn) < progressEvery {
		return
	}
	p.drawn = now
	text := p.bar(done) + note
	// The added blanks overwrite the rest of a longer previous line.
	_, _ = fmt.Fprintf(p.to, "\r%s%s", text, strings.Repeat(" ", max(0, p.length-len(text)))) // decoration
	p.length = len(text)
}

// bar returns the progress bar and the percentage, followed by two blanks. done is the
// number of finished units of work. If the total is unknown, bar returns "". The percentage
// is limited to the range from 0 % to 100 %.
func (p *Progress) bar(done int64) string {
	if p.total <= 0 {
		return ""
	}
	share := min(max(float64(done)/float64(p.total), 0), 1)
	filled := int(share * progressWidth)
	return fmt.Sprintf("[%s%s] %3.0f%%  ", strings.Repeat("#", filled), strings.Repeat(".", progressWidth-filled), share*100)
}

// End erases the progress line. Call it before other output on the same terminal. It may be
// repeated.
func (p *Progress) End() {
	if p.to != nil && p.length > 0 {
		_, _ = fmt.Fprintf(p.to, "\r%s\r", strings.Repeat(" ", p.length)) // decoration
	}
}
