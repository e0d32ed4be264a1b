package wording

import (
	"strconv"
	"strings"
)

// PerDay returns an average of things a day without superfluous digits.
func PerDay(n float64) string {
	if n > 0 && n < 0.1 {
		return "less than 0.1"
	}
	return strings.TrimSuffix(strconv.FormatFloat(n, 'f', 1, 64), ".0")
}

// Version returns "Version 3".
func Version(n int) string { return "Version " + strconv.Itoa(n) }

// Numbers returns the line numbers beside a source, with more numbers than lines: the field
// grows while a person types, also without a script.
func Numbers(text string) string {
	const more = 300
	var b strings.Builder
	for i := range strings.Count(text, "\n") + more {
		b.WriteString(strconv.Itoa(i + 1))
		b.WriteByte('\n')
	}
	return b.String()
}
