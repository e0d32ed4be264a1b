package core

// InexactNumber is the reason that a number which is not [IsExactNumber] is refused for.
const InexactNumber = "is a number that a float64 does not carry: it has too many digits or is out of range"

// IsExactNumber accepts the numbers in JSON's spelling that CheckJSON accepts: within the
// range of a float64, and with no more digits than it gives back.
func IsExactNumber(number string) bool { return isReasonable(number) }
