package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

const (
	progressWidth = 30
	progressEvery = 100 * time.Millisecond
)

// progress is one line on a terminal that says how far a long command is. On
// anything but a terminal it writes nothing.
type progress struct {
	to     io.Writer // nil for none
	total  int64     // 0 when nobody knows
	clock  core.Clock
	drawn  time.Time
	length int
}

// progressOn makes a progress line on w for work of a size.
func progressOn(w io.Writer, total int64, clock core.Clock) *progress {
	p := &progress{total: total, clock: clock}
	if isTerminal(w) {
		p.to = w
	}
	return p
}

func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// show draws the line again, unless it was drawn a moment ago.
func (p *progress) show(done int64, note string) {
	now := p.clock()
	if p.to == nil || now.Sub(p.drawn) < progressEvery {
		return
	}
	p.drawn = now
	text := p.bar(done) + note
	// Blanks cover what a longer line has left.
	_, _ = fmt.Fprintf(p.to, "\r%s%s", text, strings.Repeat(" ", max(0, p.length-len(text)))) // decoration
	p.length = len(text)
}

func (p *progress) bar(done int64) string {
	if p.total <= 0 {
		return ""
	}
	share := min(max(float64(done)/float64(p.total), 0), 1)
	filled := int(share * progressWidth)
	return fmt.Sprintf("[%s%s] %3.0f%%  ", strings.Repeat("#", filled), strings.Repeat(".", progressWidth-filled), share*100)
}

// end removes the line.
func (p *progress) end() {
	if p.to != nil && p.length > 0 {
		_, _ = fmt.Fprintf(p.to, "\r%s\r", strings.Repeat(" ", p.length)) // decoration
	}
}
