package figures

import "math/bits"

// Ratio is an exact quotient of two amounts, such as aligned messages of all messages. Rules
// compare it exactly; [Ratio.Float] rounds, once, for display.
//
// The zero Ratio is unknown, like every Ratio without a positive Whole: there was nothing to
// measure. Part must not be negative.
type Ratio struct{ Part, Whole int64 }

// Count returns an amount that is known, as a Ratio.
func Count(n int64) Ratio { return Ratio{Part: n, Whole: 1} }

// Known reports whether the Ratio has a value.
func (r Ratio) Known() bool { return r.Whole > 0 }

// Float returns the value, rounded to the nearest float64, and whether it is known. The value
// is never NaN or infinite; it is 0 if it is not known.
func (r Ratio) Float() (float64, bool) {
	if !r.Known() {
		return 0, false
	}
	return float64(r.Part) / float64(r.Whole), true
}

// AtLeast reports whether the value is known and n or more. n must not be negative.
func (r Ratio) AtLeast(n int64) bool { return r.Known() && r.compare(n) >= 0 }

// AtMost reports whether the value is known and n or less. n must not be negative.
func (r Ratio) AtMost(n int64) bool { return r.Known() && r.compare(n) <= 0 }

// compare returns the sign of the value less n, without overflow.
func (r Ratio) compare(n int64) int {
	high, low := bits.Mul64(uint64(n), uint64(r.Whole))
	switch part := uint64(r.Part); {
	case high > 0 || low > part:
		return -1
	case low < part:
		return 1
	default:
		return 0
	}
}
