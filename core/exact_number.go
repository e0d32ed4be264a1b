package core

// InexactNumber is the error text for a number for which [IsExactNumber] is false.
const InexactNumber = "is a number that a 64-bit float cannot represent: it has too many digits or is out of range"

// IsExactNumber reports whether a float64 represents the JSON number exactly: the number is
// in range and has no more digits than the float64. CheckJSON accepts the same numbers.
func IsExactNumber(number string) bool { return isReasonable(number) }
