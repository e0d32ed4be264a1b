package frame

import (
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

// The layouts, for [time.Time.Format], of dates and times on pages. All times are in UTC.
const (
	DateLayout   = time.DateOnly
	MomentLayout = "2006-01-02 15:04 UTC"
)

// PlainName returns a name without invisible characters and without characters that change
// the order of the text around it.
func PlainName(name string) string {
	visible, _ := core.VisibleText(name)
	return visible
}

// WithCommas returns a number with commas between thousands.
func WithCommas(n int64) string {
	digits := strconv.FormatInt(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Quantity returns a number with the noun that fits it, such as "1 row" or "1,200 rows".
func Quantity(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return WithCommas(n) + " " + many
}
