package linediff

import "unicode/utf8"

// markChanges sets From and To of lines that were replaced one by one: in a block of removed
// and added lines, each removed line belongs to the added line at the same place.
func markChanges(lines []Line) {
	for i := 0; i < len(lines); {
		removed := count(lines[i:], Removed)
		added := count(lines[i+removed:], Added)
		for n := range min(removed, added) {
			markPair(&lines[i+n], &lines[i+removed+n])
		}
		i += max(1, removed+added)
	}
}

// count returns the number of lines with the operation at the start of lines.
func count(lines []Line, op Op) int {
	n := 0
	for n < len(lines) && lines[n].Op == op {
		n++
	}
	return n
}

// markPair marks where two lines differ: the part between their common start and end. Lines
// of which less than half is common to both get no marks, because they are probably different
// lines.
func markPair(a, b *Line) {
	head := 0
	for head < len(a.Text) && head < len(b.Text) {
		r, size := utf8.DecodeRuneInString(a.Text[head:])
		other, otherSize := utf8.DecodeRuneInString(b.Text[head:])
		if r != other || size != otherSize {
			break
		}
		head += size
	}
	endA, endB := len(a.Text), len(b.Text)
	for endA > head && endB > head {
		r, size := utf8.DecodeLastRuneInString(a.Text[head:endA])
		other, otherSize := utf8.DecodeLastRuneInString(b.Text[head:endB])
		if r != other || size != otherSize {
			break
		}
		endA, endB = endA-size, endB-size
	}
	if common := head + len(a.Text) - endA; 2*common < min(len(a.Text), len(b.Text)) || common == 0 {
		return
	}
	a.From, a.To = head, endA
	b.From, b.To = head, endB
}
