package core

// InexactNumber is the reason for refusing a number that is not [IsExactNumber].
const InexactNumber = "is a number that a float64 does not carry: it has too many digits or is out of range"

// IsExactNumber reports whether a float64 carries a number in JSON's spelling exactly: it is
// within the range, and has no more digits than the float64 returns. CheckJSON accepts the
// same numbers.
func IsExactNumber(number string) bool { return isReasonable(number) }
