package segments

import (
	"database/sql/driver"
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"time"

	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/storage/engine"
)

// init registers SQL functions for SQLite; on PostgreSQL a migration creates them. Each
// converts a JSON value to one type, and returns NULL for a value of another type.
func init() {
	for name, read := range map[string]func(text string) driver.Value{
		"predicate_string": jsonString, "predicate_bool": jsonBool,
		"predicate_number": jsonNumber, "predicate_moment": jsonMoment,
	} {
		engine.RegisterFunction(name, 1, func(args []driver.Value) driver.Value {
			text, _ := args[0].(string) // NULL is ""
			return read(text)
		})
	}
}

// jsonValue converts the text of a JSON value to a value of type t, as the SQL of
// predicates does. It returns false if the JSON value has another type, or if text is "".
func jsonValue(text string, t predicate.Type) (predicate.Value, bool) {
	switch t {
	case predicate.String:
		s, ok := jsonString(text).(string)
		return predicate.StringValue(s), ok
	case predicate.Number:
		n, ok := jsonNumber(text).(float64)
		return predicate.NumberValue(n), ok
	case predicate.Bool:
		b, ok := jsonBool(text).(float64)
		return predicate.BoolValue(b != 0), ok
	case predicate.Datetime:
		micros, ok := jsonMoment(text).(int64)
		return predicate.Value{Type: t, Moment: predicate.Moment{Micros: micros}}, ok
	}
	return predicate.Value{}, false
}

func jsonString(text string) driver.Value {
	if s, ok := unquote(text); ok {
		return s
	}
	return nil
}

// unquote decodes a JSON string. It returns false if the JSON value is not a string.
func unquote(text string) (string, bool) {
	if len(text) < 2 || text[0] != '"' {
		return "", false
	}
	var s string
	err := json.Unmarshal([]byte(text), &s)
	return s, err == nil
}

func jsonBool(text string) driver.Value {
	switch text {
	case "true":
		return 1.0
	case "false":
		return 0.0
	}
	return nil
}

const maxJSONNumber = 64

func jsonNumber(text string) driver.Value {
	if text == "" || len(text) > maxJSONNumber || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Abs(n) > predicate.MaxNumber {
		return nil
	}
	if math.Abs(n) < tinyNumber && tinyExponent.MatchString(text) {
		return 0.0
	}
	return n
}

const tinyNumber = 1e-30 // a number of at most 64 characters with an exponent below -99 is smaller than this

var tinyExponent = regexp.MustCompile(`[eE]-0*[1-9][0-9]{2,}$`)

var momentForm = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[-+]([01][0-9]|2[0-3]):[0-5][0-9])$`)

func jsonMoment(text string) driver.Value {
	s, ok := unquote(text)
	if !ok || !momentForm.MatchString(s) {
		return nil
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil || s[:4] == "0000" {
		return nil
	}
	return t.UnixMicro()
}
