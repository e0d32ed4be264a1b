package linediff

import (
	"slices"
	"strings"
)

// Op says what happened to a line.
type Op byte

// The values of Op are the signs that stand before a line.
const (
	Same    Op = ' '
	Added   Op = '+'
	Removed Op = '-'
)

// Line is a line of a comparison, without its line end.
type Line struct {
	Op Op
	// Old and New are the numbers of the line in the texts, from 1. Old is 0 for an added line,
	// and New for a removed one.
	Old, New int
	Text     string
	// From and To are the byte offsets in Text between which the line differs from the line
	// that it replaces or that replaces it. Both are 0 if there is no such line.
	From, To int
}

// Lines compares two texts and returns the lines of both: those of before that the change
// removed, those of after that it added, and those that both have. A line end at the end of a
// text starts no line. coarse is true if the texts differ in too many lines, so that the
// result is longer than necessary.
func Lines(before, after string) (lines []Line, coarse bool) {
	a, b := split(before), split(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	w := writer{a: a, b: b}
	w.write(Same, head)
	ops, ok := shortest(a[head:len(a)-tail], b[head:len(b)-tail])
	if !ok {
		w.write(Removed, len(a)-tail-head)
		w.write(Added, len(b)-tail-head)
	}
	for _, op := range ops {
		w.write(op, 1)
	}
	w.write(Same, tail)
	markChanges(w.lines)
	return w.lines, !ok
}

// split returns the lines of a text without their line ends, LF or CRLF.
func split(text string) []string {
	if text == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimSuffix(lines[i], "\r")
	}
	return lines
}

// writer writes the lines of a comparison in order.
type writer struct {
	a, b     []string
	old, new int // the lines of each text that were written
	lines    []Line
}

// write appends the next n lines of the texts to which op applies.
func (w *writer) write(op Op, n int) {
	for range n {
		line := Line{Op: op}
		if op != Added {
			line.Text = w.a[w.old]
			w.old++
			line.Old = w.old
		}
		if op != Removed {
			line.Text = w.b[w.new]
			w.new++
			line.New = w.new
		}
		w.lines = append(w.lines, line)
	}
}

// maxChanges is the maximum number of changed lines that shortest finds. It needs memory for
// the square of this number, at most 8 MB. maxSteps bounds the comparisons of lines.
const (
	maxChanges = 1_000
	maxSteps   = 4_000_000
)

// shortest returns a shortest list of operations that turns a into b. It returns false if a
// and b differ in more than maxChanges lines, or if finding the list takes too many steps.
func shortest(a, b []string) ([]Op, bool) {
	// furthest[max+k] is the largest index in a that a path with d changes reaches on the
	// diagonal k, where the index in b is k less. trace has a copy of its used part for each d.
	limit, steps := min(len(a)+len(b), maxChanges), 0
	furthest := make([]int32, 2*limit+3)
	middle := limit + 1
	var trace [][]int32
	for d := 0; d <= limit; d++ {
		trace = append(trace, slices.Clone(furthest[middle-d:middle+d+1]))
		for k := -d; k <= d; k += 2 {
			x := furthest[middle+k-1] + 1 // a removed line
			if k == -d || k != d && furthest[middle+k-1] < furthest[middle+k+1] {
				x = furthest[middle+k+1] // an added line
			}
			for int(x) < len(a) && int(x)-k < len(b) && a[x] == b[int(x)-k] {
				x++
				steps++
			}
			furthest[middle+k] = x
			if int(x) >= len(a) && int(x)-k >= len(b) {
				return backtrack(trace, len(a), len(b)), true
			}
		}
		if steps > maxSteps {
			return nil, false
		}
	}
	return nil, false
}

// backtrack returns the operations of the path that ends at the indexes x and y. trace[d] has
// the furthest indexes after d-1 changes, for the diagonals -d to d.
func backtrack(trace [][]int32, x, y int) []Op {
	var ops []Op
	for d := len(trace) - 1; d > 0; d-- {
		k := x - y
		before := func(k int) int {
			if k < -d || k > d {
				return -1
			}
			return int(trace[d][d+k])
		}
		op, from := Removed, k-1
		if k == -d || k != d && before(k-1) < before(k+1) {
			op, from = Added, k+1
		}
		startX := before(from)
		startY := startX - from
		for x > startX && y > startY && (op == Removed && x > startX+1 || op == Added && y > startY+1) {
			ops = append(ops, Same)
			x, y = x-1, y-1
		}
		ops = append(ops, op)
		x, y = startX, startY
	}
	for range x { // the lines before the first change
		ops = append(ops, Same)
	}
	slices.Reverse(ops)
	return ops
}
