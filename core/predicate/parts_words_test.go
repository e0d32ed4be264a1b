package predicate_test

import (
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
)

// The functions below return the words that an explanation must use for an operator.

// opposites maps each operator to the operator of the negated comparison.
var opposites = map[predicate.Op]predicate.Op{
	predicate.Equal: predicate.NotEqual, predicate.NotEqual: predicate.Equal, predicate.Less: predicate.GreaterOrEqual,
	predicate.GreaterOrEqual: predicate.Less, predicate.Greater: predicate.LessOrEqual, predicate.LessOrEqual: predicate.Greater,
}

func effective(op predicate.Op, negated bool) predicate.Op {
	if negated {
		return opposites[op]
	}
	return op
}

func comparison(op predicate.Op, negated, times bool) string {
	words := map[predicate.Op][2]string{
		predicate.Equal: {" is ", "is exactly"}, predicate.NotEqual: {" is not ", "is not exactly"},
		predicate.Less: {"is less than", "is earlier than"}, predicate.LessOrEqual: {"is at most", "is at the latest"},
		predicate.Greater: {"is more than", "is later than"}, predicate.GreaterOrEqual: {"is at least", "is at the earliest"},
	}
	return words[effective(op, negated)][index(times)]
}

func counting(op predicate.Op, negated bool) string {
	return map[predicate.Op]string{
		predicate.Equal: "exactly", predicate.NotEqual: "any number but", predicate.Less: "fewer than",
		predicate.LessOrEqual: "at most", predicate.Greater: "more than", predicate.GreaterOrEqual: "at least",
	}[effective(op, negated)]
}

func ageOperator(op predicate.Op, negated bool) string {
	return map[predicate.Op]string{
		predicate.Equal: "was exactly", predicate.NotEqual: "was not exactly", predicate.Less: "lies ahead or was less than",
		predicate.LessOrEqual: "lies ahead or was at most", predicate.Greater: "was more than", predicate.GreaterOrEqual: "was at least",
	}[effective(op, negated)]
}

// amount returns the number of a duration and its unit, without an "s" for the plural.
func amount(d predicate.Duration) string {
	if d.Unit == 0 {
		return "0 second"
	}
	unit := map[predicate.Unit]string{
		predicate.Second: "second", predicate.Minute: "minute", predicate.Hour: "hour", predicate.Day: "day",
		predicate.Week: "week", predicate.Month: "month", predicate.Year: "year",
	}[d.Unit]
	return strings.TrimSuffix(d.String(), d.Unit.String()) + " " + unit
}

func fieldWord(f predicate.Field) string {
	if f.Source == predicate.Email {
		return "email address"
	}
	return f.Name
}

func micro(micros int64) time.Time { return time.UnixMicro(micros) }
