// Package difference shows what changed between two versions of a text, line by line.
package difference

import (
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame/difference/linediff"
)

// The number of equal lines that a comparison shows around each change, and the maximum
// number of lines that it shows of one part.
const (
	aroundChanges = 3
	maxCompared   = 2_000
)

// Difference is the data of the template "comparison": what changed in each part of a text.
// None says that nothing changed.
type Difference struct {
	Parts []Part
	None  string
}

// Part is what changed in one part.
type Part struct {
	Name           string
	Added, Removed int
	Hunks          []Hunk
	// Rest is the number of equal lines after the last hunk. More is the number of changed
	// lines that are not shown.
	Rest, More int
	// Coarse is true if the part changed so much that single changes were not searched.
	Coarse bool
}

// Hunk is a part of a comparison, after a number of equal lines that are not shown.
type Hunk struct {
	Skipped int
	Lines   []Line
}

// Line is a line of a comparison. Marked is the part that differs from the line that
// it replaces, Before and After are the text around it.
type Line struct {
	Sign, Class           string
	Old, New              string
	Before, Marked, After string
	// Spoken says the sign in words, or is "".
	Spoken string
}

// signs are the signs of lines, with their classes and words.
var signs = map[linediff.Op]Line{
	linediff.Same:    {Sign: " ", Class: ""},
	linediff.Added:   {Sign: "+", Class: "plus", Spoken: "Added:"},
	linediff.Removed: {Sign: "−", Class: "minus", Spoken: "Removed:"},
}

// Of compares one part of two versions.
func Of(name, before, after string) Part {
	lines, coarse := linediff.Lines(before, after)
	change := Part{Name: name, Coarse: coarse}
	for _, line := range lines {
		switch line.Op {
		case linediff.Added:
			change.Added++
		case linediff.Removed:
			change.Removed++
		}
	}
	var hunks []linediff.Hunk
	hunks, change.More, change.Rest = linediff.Hunks(lines, aroundChanges, maxCompared)
	for _, one := range hunks {
		shown := Hunk{Skipped: one.Skipped}
		for _, line := range one.Lines {
			shown.Lines = append(shown.Lines, lineOf(line))
		}
		change.Hunks = append(change.Hunks, shown)
	}
	return change
}

// lineOf returns a line of a comparison for a page.
func lineOf(line linediff.Line) Line {
	shown := signs[line.Op]
	number := func(n int) string {
		if n == 0 {
			return ""
		}
		return strconv.Itoa(n)
	}
	shown.Old, shown.New = number(line.Old), number(line.New)
	shown.Before, shown.Marked, shown.After = core.OnlyVisible(line.Text[:line.From]), core.OnlyVisible(line.Text[line.From:line.To]), core.OnlyVisible(line.Text[line.To:])
	return shown
}
