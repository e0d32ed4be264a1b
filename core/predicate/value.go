package predicate

import "time"

// Type is the type of a value. Only values of the same type can be compared.
type Type uint8

// The types of values. A field has the type Unresolved until Check sets it.
const (
	Unresolved Type = iota
	String
	Number
	Bool
	Datetime
	// Enum occurs only in a Schema. Check replaces it by String. So a predicate remains
	// unchanged if a registered attribute changes from string to enum or back.
	Enum
)

// String returns the name of the type in messages and in the registry of attributes, such
// as "datetime".
func (t Type) String() string {
	return [...]string{"unresolved", "string", "number", "bool", "datetime", "enum"}[t]
}

// MaxNumber is the greatest magnitude of a number, so that sums over events cannot
// overflow. Databases handle overflow in different ways. A larger literal is refused, and a
// larger stored number counts as absent.
const MaxNumber = 1e100

// Value is a literal of a predicate or a value of a contact. Only the member that belongs
// to Type is set.
type Value struct {
	Type Type
	// Text is set if Type is String.
	Text string
	// Number is set if Type is Number.
	Number float64
	// Bool is set if Type is Bool.
	Bool bool
	// Moment is set if Type is Datetime. In values of contacts it is never relative.
	Moment Moment
}

// StringValue returns a value of type String.
func StringValue(s string) Value { return Value{Type: String, Text: s} }

// NumberValue returns a value of type Number.
func NumberValue(n float64) Value { return Value{Type: Number, Number: n} }

// BoolValue returns a value of type Bool.
func BoolValue(b bool) Value { return Value{Type: Bool, Bool: b} }

// Moment is a point in time. It is either absolute or relative to the time of evaluation.
type Moment struct {
	// Relative says what Micros counts from. If true, Micros counts from the time of
	// evaluation, and is negative before it. If false, Micros counts from
	// 1970-01-01T00:00:00Z.
	Relative bool
	Micros   int64
	// Span is the duration of a relative moment as it was written in the predicate, without
	// the sign. It is zero for "now" without a duration. It is only used for printing.
	Span Duration
}

// At returns the moment in microseconds since 1970, given the time of evaluation.
func (m Moment) At(now time.Time) int64 {
	if m.Relative {
		return now.UnixMicro() + m.Micros
	}
	return m.Micros
}

// Duration is a duration as it was written in a predicate: Amount is 1.5 and Unit is Day
// for "1.5d".
type Duration struct {
	Amount float64
	Unit   Unit
}

// MaxDuration is the longest duration that a predicate may contain, in microseconds: 200
// years. It ensures that times relative to now are between the years 1 and 9999.
const MaxDuration = 200 * 365 * 24 * 3600 * 1_000_000

// Micros returns the duration in microseconds, rounded to the nearest one.
func (d Duration) Micros() int64 {
	if d.Unit == 0 {
		return 0
	}
	return int64(d.Amount*float64(units[d.Unit].micros) + 0.5)
}

// Unit is a unit of a Duration.
type Unit uint8

// The units of durations. A month is 30 days and a year is 365 days.
const (
	Second Unit = iota + 1
	Minute
	Hour
	Day
	Week
	Month
	Year
)

const second = int64(1_000_000)

// units has, for each unit of time, the suffix in predicates, the English word and the
// length in microseconds.
var units = [...]struct {
	suffix, word string
	micros       int64
}{
	Second: {"s", "second", second},
	Minute: {"m", "minute", 60 * second},
	Hour:   {"h", "hour", 3600 * second},
	Day:    {"d", "day", 86400 * second},
	Week:   {"w", "week", 7 * 86400 * second},
	Month:  {"mo", "month", 30 * 86400 * second},
	Year:   {"y", "year", 365 * 86400 * second},
}

// String returns the unit's suffix in predicates, such as "mo" for a month.
func (u Unit) String() string { return units[u].suffix }

// Word returns the unit in English, such as "month".
func (u Unit) Word() string { return units[u].word }
