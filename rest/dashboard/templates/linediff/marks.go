package linediff

import "unicode/utf8"

// markChanges sets From and To of lines that were replaced one by one: in a block of as many
// removed as added lines, each removed line belongs to the added line at the same place.
func markChanges(lines []Line) {
	for i := 0; i < len(lines); {
		removed := count(lines[i:], Removed)
		added := count(lines[i+removed:], Added)
		if removed > 0 && removed == added {
			for n := range removed {
				markPair(&lines[i+n], &lines[i+removed+n])
			}
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
// without a common part get no marks, because all of them differs.
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
	if head == 0 && endA == len(a.Text) && endB == len(b.Text) {
		return
	}
	a.From, a.To = head, endA
	b.From, b.To = head, endB
}
