package linediff

// Hunk is a part of a comparison: changed lines with some lines around them.
type Hunk struct {
	// Skipped is the number of equal lines between the hunk before and this one.
	Skipped int
	Lines   []Line
}

// Hunks leaves out the equal lines that are further than around lines from a change. It
// returns at most limit lines; more is the number of changed lines that it left out. rest is
// the number of equal lines after the last hunk.
func Hunks(lines []Line, around, limit int) (hunks []Hunk, more, rest int) {
	near := nearChanges(lines, around)
	skipped, shown := 0, 0
	for i, line := range lines {
		switch {
		case !near[i]:
			skipped++
			continue
		case shown >= limit:
			if line.Op != Same {
				more++
			}
			continue
		case i == 0 || !near[i-1]:
			hunks = append(hunks, Hunk{Skipped: skipped})
			skipped = 0
		}
		last := &hunks[len(hunks)-1]
		last.Lines = append(last.Lines, line)
		shown++
	}
	return hunks, more, skipped
}

// nearChanges reports for each line whether it changed or is at most around lines away from
// a line that did.
func nearChanges(lines []Line, around int) []bool {
	near := make([]bool, len(lines))
	for i, line := range lines {
		if line.Op == Same {
			continue
		}
		for n := i; n >= 0 && n >= i-around && (n == i || !near[n]); n-- {
			near[n] = true
		}
		for n := i + 1; n < len(lines) && n <= i+around && lines[n].Op == Same; n++ {
			near[n] = true
		}
	}
	return near
}
