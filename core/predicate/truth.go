package predicate

// Truth is the result of a test. The order is False < Unknown < True, so that "and" is the
// least and "or" the greatest result of its terms.
type Truth int8

// The three values.
const (
	False   Truth = -1
	Unknown Truth = 0
	True    Truth = 1
)

// Not returns False for True, True for False, and Unknown for Unknown.
func (t Truth) Not() Truth { return -t }

// String returns "true", "false" or "unknown".
func (t Truth) String() string {
	switch t {
	case True:
		return "true"
	case False:
		return "false"
	case Unknown:
		return "unknown"
	}
	return "no truth"
}

func truthOf(b bool) Truth {
	if b {
		return True
	}
	return False
}
