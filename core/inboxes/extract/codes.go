package extract

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// maxDistance is the number of characters between a label and a number on its line.
const maxDistance = 60

// maxSentence is the number of characters between a label and a number that follows a verb
// such as "is" in the same sentence.
const maxSentence = 150

// code is a text that has the form of a code.
type code struct {
	start, end int
	value      string
	form       form
}

// form is the form of a possible code. Less usual forms need a clearer label.
type form int

const (
	// digits: 4 to 8 digits, perhaps in groups.
	digits form = iota
	// yearLike: four digits that may be a year.
	yearLike
	// mixed: letters and digits, or groups of them.
	mixed
	// letters: capital letters only.
	letters
)

// The certainty of codes: the label is directly before, on the line, on the line before or
// after, or somewhere in the text.
const (
	scoreAdjacent = 100
	scoreSameLine = 60
	scoreNextLine = 80
	scoreAnywhere = 20
)

// scan adds the codes in a text.
func (f *finder) scan(text string, bonus int) {
	lines := readLines(text)
	first := sync.OnceValue(func() string { return firstCodeLabel(lines) })
	for i, l := range lines {
		if !l.mayHaveCode() {
			continue
		}
		l.parse()
		for _, c := range l.candidates() {
			score, label := l.judge(c)
			if score == 0 && l.isAlone(c) && !l.rejected() {
				score, label = judgeAlone(lines, i, c, first)
			}
			if score > 0 {
				f.add(Code{Value: c.value, Raw: l.text[c.start:c.end], Label: label}, score+bonus)
			}
		}
	}
}

// rejected reports whether the line says that its number is something else.
func (l *line) rejected() bool {
	for _, label := range l.labels {
		if !label.code {
			return true
		}
	}
	return false
}

// isAlone reports whether the line has no letters or digits but the candidate.
func (l *line) isAlone(c code) bool {
	for _, t := range l.tokens {
		if t.end <= c.start || t.start >= c.end {
			return false
		}
	}
	return true
}

// candidates returns the texts of the line that have the form of a code.
func (l *line) candidates() []code {
	var all []code
	for i := 0; i < len(l.tokens); {
		n := l.group(i)
		if c, ok := l.candidate(i, n); ok {
			all = append(all, c)
		} else if l.tokens[i].digits && n > 1 && l.spacesOnly(i, n) && l.digitCount(i, n) <= 8 {
			for j := i; j < i+n; j++ {
				if c, ok := l.candidate(j, 1); ok {
					all = append(all, c)
				}
			}
		}
		i += n
	}
	return all
}

// group returns the number of tokens, from index i, that are written as one: groups of
// digits divided by a space, hyphen, point, slash, colon or bracket, or groups of any
// characters divided by hyphens.
func (l *line) group(i int) int {
	n := 1
	for ; i+n < len(l.tokens); n++ {
		last, next := l.tokens[i+n-1], l.tokens[i+n]
		gap := l.text[last.end:next.start]
		inNumber := len(gap) == 1 && strings.Contains(" -.,/:()+'", gap) || gap == ") " || gap == " ("
		if gap != "-" && gap != "_" && !(last.digits && next.digits && inNumber) {
			break
		}
	}
	return n
}

func (l *line) spacesOnly(i, n int) bool {
	for j := i + 1; j < i+n; j++ {
		if l.text[l.tokens[j-1].end:l.tokens[j].start] != " " {
			return false
		}
	}
	return true
}

func (l *line) digitCount(i, n int) int {
	count := 0
	for _, t := range l.tokens[i : i+n] {
		count += t.end - t.start
	}
	return count
}

// candidate returns the n tokens from index i as a candidate, if they have the form of a
// code and nothing around them says otherwise.
func (l *line) candidate(i, n int) (code, bool) {
	group := l.tokens[i : i+n]
	c := code{start: group[0].start, end: group[n-1].end}
	text := l.text[c.start:c.end]
	if len(text) > 24 || group[0].joined || n > 8 {
		return code{}, false
	}
	digitsOnly := true
	for _, t := range group {
		digitsOnly = digitsOnly && t.digits
	}
	ok := false
	if digitsOnly {
		ok = l.digitForm(&c, group)
	} else {
		ok = l.mixedForm(&c, group, text)
	}
	return c, ok && l.isFree(c, i, n)
}

// digitForm recognizes 4 to 8 digits in one group, or in groups of one length that are all
// divided in the same way.
func (l *line) digitForm(c *code, group []token) bool {
	size := group[0].end - group[0].start
	total := 0
	var b strings.Builder
	for i, t := range group {
		if t.end-t.start != size {
			return false
		}
		total += size
		b.WriteString(l.text[t.start:t.end])
		if i > 0 {
			if gap := l.text[group[i-1].end:t.start]; gap != " " && gap != "-" || gap != l.text[group[0].end:group[1].start] {
				return false
			}
		}
	}
	if total < 4 || total > 8 || len(group) > 1 && (size > 4 || total == 4 && size == 2) {
		return false
	}
	c.value = b.String()
	if total == 4 && len(group) == 1 && (strings.HasPrefix(c.value, "19") || strings.HasPrefix(c.value, "20")) {
		c.form = yearLike
	}
	// "100 000" is a count.
	return len(group) == 1 || !strings.HasSuffix(c.value, "000") || l.text[group[0].end] != ' '
}

// mixedForm recognizes codes with letters: "K7Q2PX", "ABC-123", "WDJB-MJHT", "x7Kp2Q".
func (l *line) mixedForm(c *code, group []token, text string) bool {
	lower, upper, digit := 0, 0, 0
	for _, r := range text {
		switch {
		case r >= 'a' && r <= 'z':
			lower++
		case r >= 'A' && r <= 'Z':
			upper++
		case r >= '0' && r <= '9':
			digit++
		case r != '-':
			return false
		}
	}
	total := lower + upper + digit
	c.value, c.form = text, mixed
	if len(group) == 1 {
		if digit == 0 {
			c.form = letters
			return lower == 0 && total >= 6 && total <= 8
		}
		return total >= 5 && total <= 10 && (lower == 0 || total >= 6)
	}
	if lower > 0 || total < 5 || total > 20 || len(group) > 5 {
		return false
	}
	size := group[0].end - group[0].start
	for _, t := range group {
		if n := t.end - t.start; n > 8 || digit == 0 && n != size {
			return false
		}
	}
	return true
}

// isFree reports whether nothing around a candidate makes it an amount, a part of a longer
// text, a phone number or a count.
func (l *line) isFree(c code, i, n int) bool {
	before, after := l.before(c.start), l.after(c.end)
	if strings.ContainsRune(currencies+"#+/\\_&=№~", before) && before != 0 || before == '.' && c.start > 1 && l.text[c.start-2] != ' ' && l.text[c.start-2] != '.' {
		return false
	}
	if after != 0 && strings.ContainsRune(unitParts+"/\\_=$", after) {
		return false
	}
	if beforeSpace := strings.TrimRight(l.text[:c.start], " "); beforeSpace != "" {
		if last, _ := utf8.DecodeLastRuneInString(beforeSpace); strings.ContainsRune(currencies+"#+№", last) {
			return false
		}
	}
	if rest := strings.TrimLeft(l.text[c.end:], " "); rest != "" {
		if next, _ := utf8.DecodeRuneInString(rest); strings.ContainsRune("€£¥₽₺₹₩%", next) {
			return false
		}
	}
	if after == '.' || after == ',' || after == ':' || after == '-' {
		if next := l.after(c.end + 1); next >= '0' && next <= '9' {
			return false
		}
	}
	if i+n < len(l.tokens) && units[l.words[i+n]] && strings.TrimSpace(l.text[c.end:l.tokens[i+n].start]) == "" {
		return false
	}
	// "EUR 1234" is an amount.
	return i == 0 || len(l.words[i-1]) != 3 || !units[l.words[i-1]] || strings.TrimSpace(l.text[l.tokens[i-1].end:c.start]) != ""
}

// judge returns how certain it is, from the labels on its line, that the candidate is a
// code, and the label. 0 means not at all.
func (l *line) judge(c code) (score int, text string) {
	var before, codeBefore, after *label
	for i := range l.labels {
		switch label := &l.labels[i]; {
		case label.end <= c.start:
			before = label
			if label.code {
				codeBefore = label
			}
		case label.start >= c.end && label.code && after == nil:
			after = label
		}
	}
	if before != nil && !before.code {
		between := l.text[before.end:c.start]
		if hasNumber := strings.ContainsAny(between, "0123456789"); !hasNumber && (isAdjacent(between) || utf8.RuneCountInString(between) <= 20) {
			return 0, ""
		}
	}
	if codeBefore != nil {
		if score := l.judgeAfter(c, l.text[codeBefore.end:c.start], before == codeBefore); score > 0 {
			return score, codeBefore.text
		}
	}
	if after != nil && c.form != letters {
		between := l.text[c.end:after.start]
		distance := utf8.RuneCountInString(between)
		if distance <= maxDistance && !endsSentence(between) && beginsWithVerb(between) {
			return scoreSameLine - distance/2, after.text
		}
	}
	return 0, ""
}

// judgeAfter judges a candidate after a label, by the text between them. nearest is true if
// no other label is between them.
func (l *line) judgeAfter(c code, between string, nearest bool) (score int) {
	distance := utf8.RuneCountInString(between)
	switch {
	case endsSentence(between):
		return 0
	case nearest && isAdjacent(between) && (c.form != letters || l.isClear(between)):
		return scoreAdjacent
	case nearest && c.form == digits && distance <= maxDistance:
		return scoreSameLine - distance/2
	case c.form == digits && distance <= maxSentence && endsWithVerb(between):
		// "The OTP for your transaction of USD 1,250.00 on card ending 9921 is 558201"
		return scoreSameLine / 2
	}
	return 0
}

// isClear reports whether the text between a label and capital letters has a colon.
func (l *line) isClear(between string) bool { return strings.ContainsAny(between, ":=") }

// isAdjacent reports whether the text between a label and a code has only punctuation, or
// ends with a colon or a verb such as "is".
func isAdjacent(between string) bool {
	if utf8.RuneCountInString(between) > maxDistance {
		return false
	}
	trimmed := strings.TrimRight(between, " \"'*„“”«»「」『』[(")
	if trimmed == "" || strings.HasSuffix(trimmed, ":") || strings.HasSuffix(trimmed, "=") {
		return true
	}
	if strings.Trim(trimmed, " -*>)") == "" {
		return true
	}
	return endsWithVerb(trimmed)
}

// endsWithVerb reports whether the last word of the text before a code is a verb such as "is".
func endsWithVerb(between string) bool {
	between = strings.TrimRight(between, " ")
	if verbs[strings.ToLower(between[strings.LastIndexByte(between, ' ')+1:])] {
		return true
	}
	for _, verb := range []string{"は", "是", "为", "為", "は、", "는", "은", "คือ"} {
		if strings.HasSuffix(between, verb) {
			return true
		}
	}
	return false
}

// endsSentence reports whether a sentence ends in the text.
func endsSentence(between string) bool {
	return strings.Contains(between, ". ") || strings.Contains(between, "! ") || strings.Contains(between, "? ") || strings.Contains(between, "。")
}

// beginsWithVerb reports whether the text after a code begins with a verb such as "is".
func beginsWithVerb(text string) bool {
	text = strings.TrimLeft(text, " \"'*”»」)")
	for _, verb := range []string{"は", "是", "为", "為", "が"} {
		if strings.HasPrefix(text, verb) {
			return true
		}
	}
	first, _, _ := strings.Cut(text, " ")
	return first == "-" || verbs[strings.ToLower(first)]
}

// judgeAlone judges a candidate that is alone on line i, by the lines around it. first returns
// the first label of a code in the text.
func judgeAlone(lines []*line, i int, c code, first func() string) (score int, text string) {
	for back := 1; back <= 2 && i-back >= 0; back++ {
		previous := lines[i-back]
		previous.parse()
		n := len(previous.labels)
		if n == 0 {
			continue
		}
		last := previous.labels[n-1]
		colon := strings.HasSuffix(strings.TrimRight(previous.text, " *"), ":")
		switch {
		case !last.code:
			return 0, ""
		case c.form == digits, c.form == mixed && back == 1, back == 1 && colon:
			return scoreNextLine - 10*back, last.text
		}
		return 0, ""
	}
	if c.form != digits && c.form != mixed {
		return 0, ""
	}
	if i+1 < len(lines) {
		lines[i+1].parse()
		for _, label := range lines[i+1].labels {
			if label.code && c.form == digits {
				return scoreSameLine - 20, label.text
			}
		}
	}
	if c.form == digits && len(c.value) == 6 {
		if label := first(); label != "" {
			return scoreAnywhere, label
		}
	}
	return 0, ""
}

// firstCodeLabel returns the first label of a code in the text.
func firstCodeLabel(lines []*line) string {
	for _, l := range lines {
		l.parse()
		for _, label := range l.labels {
			if label.code {
				return label.text
			}
		}
	}
	return ""
}
