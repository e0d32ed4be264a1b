package diagram

import (
	"strings"

	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// All lengths are in units of the drawing, which are CSS pixels if it is not scaled.
const (
	margin     = 16
	boxWidth   = 236
	entryWidth = 300
	pillWidth  = 92
	padding    = 14
	iconWidth  = 34
	ruleIndent = 40
	lineHeight = 18
	// gap is the height between two steps, with an arrow; columnGap is the width between
	// two arms.
	gap       = 30
	columnGap = 28
	// bend is the height of a horizontal line between a step and its arms.
	bend = 18
	// lane is the width of the line back of a repetition.
	lane = 24
)

// size is the room that a part needs: left and right of the vertical line through its
// beginning, and down.
type size struct{ left, right, height int }

// part is a step with its arms.
type part interface {
	room() size
	// draw draws the part below the point x, y, at which it begins.
	draw(c *canvas, x, y int)
	// stepPath returns the path of the step.
	stepPath() string
	// continues reports whether contacts go on to the next step.
	continues() bool
}

// sequence is the steps of a block, one below the other.
type sequence struct {
	size
	parts []part
	// open is true if contacts come to the end of the block.
	open bool
	// path is the path of the arm, "" for the workflow itself.
	path string
}

// sequence measures the steps of a block. prefix precedes their indexes in paths.
func (c *canvas) sequence(steps []language.Step, path, prefix string) *sequence {
	s := &sequence{open: true, path: path}
	for i, step := range steps {
		p := c.part(step, prefix+itoa(i))
		if i > 0 {
			s.height += gap
		}
		room := p.room()
		s.left, s.right = max(s.left, room.left), max(s.right, room.right)
		s.height += room.height
		s.open = p.continues()
		if passed, forks := previous(s).(*fork); forks {
			passed.passed = c.lit(p.stepPath())
		}
		s.parts = append(s.parts, p)
	}
	return s
}

// previous returns the last part of a sequence, nil if it has none.
func previous(s *sequence) part {
	if len(s.parts) == 0 {
		return nil
	}
	return s.parts[len(s.parts)-1]
}

func (s *sequence) firstPath() string {
	if len(s.parts) == 0 {
		return ""
	}
	return s.parts[0].stepPath()
}

func (s *sequence) draw(c *canvas, x, y int) {
	for i, p := range s.parts {
		if i > 0 {
			if s.parts[i-1].continues() {
				c.arrow(x, y, y+gap, c.lit(p.stepPath()))
			}
			y += gap
		}
		p.draw(c, x, y)
		y += p.room().height
	}
}

// part measures a step with its arms.
func (c *canvas) part(step language.Step, path string) part {
	head := c.stepBox(step, path)
	arms := language.Arms(step)
	if repeat, loops := step.(*language.Repeat); loops {
		return newLoop(head, c.sequence(repeat.Body.Steps, path+".body", path+".body."))
	}
	if len(arms) == 0 {
		return head
	}
	f := &fork{head: head}
	labels := armLabels(step)
	for i, arm := range arms {
		armPath := path + "." + arm.Label
		f.add(c, labels[i], c.sequence(arm.Block.Steps, armPath, armPath+"."))
	}
	switch s := step.(type) {
	case *language.If:
		if s.Else == nil {
			f.add(c, lastLabel(s), &sequence{open: true, path: path + "." + Through})
		}
	case *language.WaitFor:
		f.add(c, "Condition holds", &sequence{open: true, path: path + "." + Through})
	}
	f.measure()
	return f
}

// Through is the label, in paths of [Options], of the way past the arms of an if without else
// and of a wait whose condition holds. It is no arm of the language.
const Through = "through"

// fork is a step whose arms are side by side and join again.
type fork struct {
	size
	head *box
	arms []forkArm
	// labels is the height of the highest label, and columns that of the highest arm.
	labels, columns int
	// passed is true if the next step is highlighted.
	passed bool
}

// forkArm is an arm of a fork. center is where its vertical line is, from that of the first.
type forkArm struct {
	*sequence
	label  *box
	center int
}

func (f *fork) add(c *canvas, label string, s *sequence) {
	b := &box{pill: true, class: "arm", path: s.path, words: c.words[s.path], title: wrap(label, boxWidth-2*padding, false, 4)}
	b.fit(min(boxWidth, widest(b.title, false)+2*padding))
	f.arms = append(f.arms, forkArm{sequence: s, label: b})
}

func (f *fork) measure() {
	for i := range f.arms {
		arm := &f.arms[i]
		arm.left, arm.right = max(arm.left, arm.label.left), max(arm.right, arm.label.right)
		if i > 0 {
			before := f.arms[i-1]
			arm.center = before.center + before.right + columnGap + arm.left
		}
		f.labels = max(f.labels, arm.label.height)
		f.columns = max(f.columns, arm.sequence.height)
	}
	last := f.arms[len(f.arms)-1]
	f.left = max(f.head.left, last.center/2+f.arms[0].left)
	f.right = max(f.head.right, last.center-last.center/2+last.right)
	f.height = f.head.height + 2*bend + f.labels + gap + f.columns
	if f.continues() {
		f.height += bend
	}
}

func (f *fork) room() size       { return f.size }
func (f *fork) stepPath() string { return f.head.path }

// continues reports whether contacts come to the end of one of the arms.
func (f *fork) continues() bool {
	for _, arm := range f.arms {
		if arm.open {
			return true
		}
	}
	return false
}

func (f *fork) draw(c *canvas, x, y int) {
	f.head.draw(c, x, y)
	below := y + f.head.height
	bottom := y + f.height
	first := x - f.arms[len(f.arms)-1].center/2
	for _, arm := range f.arms {
		at := first + arm.center
		lit := f.lit(c, arm.path)
		arm.label.lit = lit
		c.branch(x, below, at, below+2*bend, lit)
		arm.label.draw(c, at, below+2*bend)
		end := below + 2*bend + arm.label.height
		if len(arm.parts) > 0 {
			top := below + 2*bend + f.labels + gap
			c.arrow(at, end, top, lit)
			arm.sequence.draw(c, at, top)
			end = top + arm.sequence.height
		}
		if arm.open {
			c.join(at, end, x, bottom, lit)
		}
	}
}

// lit reports whether an arm is highlighted. The way past the arms is so too if the step and
// the next one are, and no arm is.
func (f *fork) lit(c *canvas, path string) bool {
	if c.lit(path) {
		return true
	}
	if !f.passed || !strings.HasSuffix(path, "."+Through) || !c.lit(f.head.path) {
		return false
	}
	for _, arm := range f.arms {
		if c.lit(arm.path) {
			return false
		}
	}
	return true
}

// loop is a repetition: a step, its body, and a line back.
type loop struct {
	size
	head *box
	body *sequence
}

func newLoop(head *box, body *sequence) *loop {
	l := &loop{head: head, body: body}
	l.left = max(head.left, body.left) + lane + padding
	l.right = max(head.right, body.right) + padding
	l.height = head.height + gap + body.height + bend + 2*padding
	return l
}

func (l *loop) room() size       { return l.size }
func (l *loop) stepPath() string { return l.head.path }

// continues returns true: the passes end, and the condition of the repetition may hold.
func (l *loop) continues() bool { return true }

func (l *loop) draw(c *canvas, x, y int) {
	lit := c.lit(l.body.path)
	c.frame(l.body.path, x-l.left, y, l.left+l.right, l.height, lit)
	top := y + padding
	l.head.draw(c, x, top)
	end := top + l.head.height
	if len(l.body.parts) > 0 {
		c.arrow(x, end, end+gap, lit)
		l.body.draw(c, x, end+gap)
		end += gap + l.body.height
	}
	if l.body.open {
		c.back(x, end, x-l.left+padding, top+l.head.height/2, x-l.head.left, lit)
	}
}
