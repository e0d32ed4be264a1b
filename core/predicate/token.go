package predicate

// tokenKind is the kind of a token. Below, each kind has an example and the members of
// token that it sets.
type tokenKind uint8

const (
	tokenEnd       tokenKind = iota
	tokenWord                // count, plan: text
	tokenAttribute           // attr.plan: text is "plan"
	tokenActivity            // an activity, such as activity.purchase; the field text is its name
	tokenProperty            // an event property, such as property."Order id"; the field text is its name
	tokenString              // a string, such as "pro"; the field text is its content without quotes and escapes
	tokenNumber              // 12.5: number
	tokenDuration            // 30d: number, unit
	tokenDate                // 2026-01-31: micros since 1970
	tokenSymbol              // one of ( ) [ ] , + - = != < <= > >=; the field text is the symbol
	// Invalid text. The field text is the error message; the field fix is the suggested
	// correction, or "".
	tokenBad
)

// token is one word, name, literal or symbol of a predicate. start and end are its byte
// offsets in the source.
type token struct {
	kind       tokenKind
	start, end int
	text       string
	fix        string
	number     float64
	micros     int64
	unit       Unit
}

func (t token) is(word string) bool   { return t.kind == tokenWord && t.text == word }
func (t token) sign(text string) bool { return t.kind == tokenSymbol && t.text == text }
