package htmlcontext

// cssPart counts how much of "url(" and a quote was read directly before.
type cssPart uint8

// cssURL is the number of characters of "url(". From it on, a value is a link.
const cssURL = 4

// step moves over a byte of CSS.
func (p cssPart) step(b byte) cssPart {
	const start = "url("
	switch {
	case p >= cssURL && isBlank(b):
		return p
	case p == cssURL && (b == '"' || b == '\''):
		return cssURL + 1
	case int(p) < len(start) && lower(b) == start[p]:
		return p + 1
	case lower(b) == 'u':
		return 1
	}
	return 0
}
