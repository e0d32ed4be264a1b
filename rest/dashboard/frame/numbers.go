package frame

import (
	"math"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
)

// Quantity returns a number with the noun that fits it, such as "1 row" or "1,200 rows".
func Quantity(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return core.WithCommas(n) + " " + many
}

// Count formats a count in a chart with commas. A number that is not whole gets one decimal:
// the label at the middle of an axis may be 2.5.
func Count(v float64) string {
	if v != math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return core.WithCommas(int64(v))
}

// percentSign is a percent sign after a no-break space.
const percentSign = "\u00a0%"

// Percentage formats a rate from 0 to 1 as a percentage with two decimals, because complaint
// rates are often below 1 %.
func Percentage(rate float64) string { return strconv.FormatFloat(100*rate, 'f', 2, 64) + percentSign }

// ShortPercentage formats a rate from 0 to 1 as a percentage with at most two decimals, for
// sentences and the labels of an axis.
func ShortPercentage(rate float64) string {
	return strconv.FormatFloat(math.Round(1e4*rate)/100, 'f', -1, 64) + percentSign
}
