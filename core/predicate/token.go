package predicate

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	tokenEnd       tokenKind = iota
	tokenWord                // count, plan: text
	tokenAttribute           // attr.plan: text is "plan"
	tokenActivity            // activity.purchase, activity."Order paid": text is the name
	tokenProperty            // property."Order id": text is the name
	tokenString              // "pro": text is what it stands for
	tokenNumber              // 12.5: number
	tokenDuration            // 30d: number, unit
	tokenDate                // 2026-01-31: micros since 1970
	tokenSymbol              // ( ) [ ] , + - = != < <= > >=: text
	tokenBad                 // text says what is wrong, fix may say what to write
)

// token is a word of the source, with its start and end.
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
