package predicate

import "time"

// Type is the type of a value. Only values of one type are compared.
type Type uint8

// The types. Unresolved is the type of a field before Check.
const (
	Unresolved Type = iota
	String
	Number
	Bool
	Datetime
	// Enum is only a type of registrations. Check turns it into String, so that changing
	// a string to an enum or back changes no predicate.
	Enum
)

// String returns the registry's name of the type.
func (t Type) String() string {
	return [...]string{"unresolved", "string", "number", "bool", "datetime", "enum"}[t]
}

// MaxNumber bounds the magnitude of every number, so that no sum over events overflows;
// the engines handle overflow differently. A larger literal is refused; a larger stored
// number counts as absent.
const MaxNumber = 1e100

// Value is a literal of a predicate or a value of a contact. Exactly the field of its
// Type is set.
type Value struct {
	Type Type
	// Text is the value of a String.
	Text string
	// Number is the value of a Number.
	Number float64
	// Bool is the value of a Bool.
	Bool bool
	// Moment is the value of a Datetime. It is never relative in values of contacts.
	Moment Moment
}

// StringValue returns a value of type String.
func StringValue(s string) Value { return Value{Type: String, Text: s} }

// NumberValue returns a value of type Number.
func NumberValue(n float64) Value { return Value{Type: Number, Number: n} }

// BoolValue returns a value of type Bool.
func BoolValue(b bool) Value { return Value{Type: Bool, Bool: b} }

// TimeValue returns a value of type Datetime, rounded down to microseconds.
func TimeValue(t time.Time) Value {
	return Value{Type: Datetime, Moment: Moment{Micros: t.UnixMicro()}}
}

// Moment is a point in time: absolute, or a distance from the time of evaluation.
type Moment struct {
	// Relative says what Micros counts from: the time of evaluation if true (negative is
	// before it), else 1970-01-01T00:00:00Z.
	Relative bool
	Micros   int64
	// Span is the relative distance as it was written, without its sign; zero for a bare
	// "now". It adds nothing to Micros.
	Span Duration
}

// At returns the moment in microseconds since 1970, if it is evaluated at now.
func (m Moment) At(now time.Time) int64 {
	if m.Relative {
		return now.UnixMicro() + m.Micros
	}
	return m.Micros
}

// Duration is a length of time as it was written: 1.5 and Day for "1.5d".
type Duration struct {
	Amount float64
	Unit   Unit
}

// MaxDuration is the longest duration that may be written, in microseconds: 200 years.
// It keeps every moment between the years 1 and 9999.
const MaxDuration = 200 * 365 * 24 * 3600 * 1_000_000

// Micros returns the length in microseconds, rounded to the nearest.
func (d Duration) Micros() int64 {
	if d.Unit == 0 {
		return 0
	}
	return int64(d.Amount*float64(units[d.Unit].micros) + 0.5)
}

// Unit is a unit of durations.
type Unit uint8

// The units. A month is 30 days and a year is 365 days.
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

// units has the suffix, the word and the length of each unit.
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

// String returns the unit as predicates write it: "mo".
func (u Unit) String() string { return units[u].suffix }
