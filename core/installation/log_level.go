package installation

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"time"
)

// LogLevelFact is the fact with the log level of all processes, as JSON of a [LogLevel]. ""
// means that each process has the level of its own settings.
const LogLevelFact = "log_level"

// LogLevel is a log level that replaces those of the settings of all processes.
type LogLevel struct {
	Level slog.Level `json:"level"`
	// Until is the time at which the level ends, nil if it stays.
	Until *time.Time `json:"until"`
}

// ParseLogLevel returns the level of the value of the fact. It returns nil for "".
func ParseLogLevel(value string) (*LogLevel, error) {
	if value == "" {
		return nil, nil //nolint:nilnil // there is no such level
	}
	var l LogLevel
	if err := json.Unmarshal([]byte(value), &l); err != nil {
		return nil, fmt.Errorf("the stored log level %q is invalid: %w", value, err)
	}
	return &l, nil
}

// Value returns the value of the fact.
func (l LogLevel) Value() string {
	value, err := json.Marshal(l)
	if err != nil {
		panic(err) // a level and a time can always be encoded
	}
	return string(value)
}

// Applies reports whether the level applies at a time. It is false for nil.
func (l *LogLevel) Applies(now time.Time) bool {
	return l != nil && (l.Until == nil || now.Before(*l.Until))
}
