package predicatetest

import (
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"pgregory.net/rapid"
)

// Now is the time at which every case is evaluated.
var Now = time.Date(2026, 3, 1, 12, 30, 15, 250_001_000, time.UTC)

// texts has strings that contain each other, differ only in case, or have characters that
// are special in LIKE, JSON or SQL.
var texts = []string{"pro", "Pro", "team", "a", "ab", "ba", "aba", "é", "e\u0301", "😀a", "%", "_", "a%", `a\b`, `"`, "'", "100", "true", " a"}

var numbers = []float64{-100, -1.5, -1, 0, 0.25, 0.5, 1, 2, 2.5, 99.5, 100, 1e10}

// durations has the durations from which windows, ages and times relative to Now are
// generated.
var durations = []predicate.Duration{
	{Amount: 0, Unit: predicate.Second},
	{Amount: 90, Unit: predicate.Second},
	{Amount: 5, Unit: predicate.Minute},
	{Amount: 1.5, Unit: predicate.Hour},
	{Amount: 1, Unit: predicate.Day},
	{Amount: 30, Unit: predicate.Day},
	{Amount: 2, Unit: predicate.Week},
	{Amount: 1, Unit: predicate.Month},
	{Amount: 1, Unit: predicate.Year},
}

func drawText(t *rapid.T) string { return rapid.SampledFrom(texts).Draw(t, "text") }

func drawNumber(t *rapid.T) float64 { return rapid.SampledFrom(numbers).Draw(t, "number") }

func drawDuration(t *rapid.T) predicate.Duration {
	return rapid.SampledFrom(durations).Draw(t, "duration")
}

// drawMicros returns a random time in microseconds since 1970. It draws a time that is one
// of the durations before or after Now. It may then round that time down to midnight, and
// move it by one microsecond in either direction.
func drawMicros(t *rapid.T) int64 {
	distance := drawDuration(t).Micros()
	at := Now.UnixMicro() - distance
	if rapid.IntRange(0, 3).Draw(t, "ahead") == 0 {
		at = Now.UnixMicro() + distance
	}
	if rapid.IntRange(0, 2).Draw(t, "midnight") == 0 {
		at -= at % dayMicros
	}
	return at + int64(rapid.IntRange(-1, 1).Draw(t, "beside"))
}

const dayMicros = 86_400_000_000

// TimeValue returns a value of type Datetime, rounded down to microseconds.
func TimeValue(t time.Time) predicate.Value {
	return predicate.Value{Type: predicate.Datetime, Moment: predicate.Moment{Micros: t.UnixMicro()}}
}

// drawValue returns a random value of the type. For an Enum it is any string, also one that
// is not among the enum's values.
func drawValue(t *rapid.T, of predicate.Type) predicate.Value {
	switch of {
	case predicate.Number:
		return predicate.NumberValue(drawNumber(t))
	case predicate.Bool:
		return predicate.BoolValue(rapid.Bool().Draw(t, "bool"))
	case predicate.Datetime:
		return TimeValue(time.UnixMicro(drawMicros(t)))
	default:
		return predicate.StringValue(drawText(t))
	}
}

// drawStored returns a random stored value for an attribute or property of the type. Some
// values have another type, as if the registration had changed. ok is false if no value is
// stored.
func drawStored(t *rapid.T, of predicate.Type) (v predicate.Value, ok bool) {
	switch rapid.IntRange(0, 11).Draw(t, "stored") {
	case 0, 1:
		return v, false
	case 2:
		other := rapid.SampledFrom([]predicate.Type{predicate.String, predicate.Number, predicate.Bool}).Draw(t, "former type")
		if of == predicate.Datetime && other == predicate.String {
			other = predicate.Number
		}
		return drawValue(t, other), true
	case 3:
		if of == predicate.String || of == predicate.Enum {
			return predicate.StringValue(""), true
		}
	}
	return drawValue(t, of), true
}
