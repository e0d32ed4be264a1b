package cli

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"
)

// PrintJSON writes v as one indented JSON object to standard output. It does not escape
// characters that are special only in HTML, because URLs contain ampersands.
func (p *Program) PrintJSON(v any) error {
	e := json.NewEncoder(p.Stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// PrintTable writes rows with aligned columns to standard output. indent precedes each row.
// Column widths are counted in characters, not bytes.
func (p *Program) PrintTable(indent string, rows [][]string) error {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		if _, err := fmt.Fprintln(p.Stdout, indent+strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// Logger returns a logger that writes JSON lines of the given level and above to standard
// error. It also sets the default logger, which libraries use, to write warnings and above
// in the same form. Both log a repeated warning once and then its count. Run logs the last
// counts when the command ends.
func (p *Program) Logger(level string) (*slog.Logger, error) {
	log, _, err := p.LeveledLogger(level)
	return log, err
}

// LeveledLogger is Logger. The returned variable is the level of the logger, which may change.
func (p *Program) LeveledLogger(level string) (*slog.Logger, *slog.LevelVar, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, nil, err
	}
	to := func(l slog.Leveler) *slog.Logger {
		handler, flush := newWithoutRepeats(slog.NewJSONHandler(p.Stderr, &slog.HandlerOptions{Level: l, ReplaceAttr: withUnit}))
		p.flushes = append(p.flushes, flush)
		return slog.New(handler)
	}
	slog.SetDefault(to(max(l, slog.LevelWarn)))
	own := new(slog.LevelVar)
	own.Set(l)
	return to(own), own, nil
}

// withUnit gives every duration in the log the same form: a number of milliseconds with at most
// three decimals, in a member whose name ends with _ms.
func withUnit(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() != slog.KindDuration {
		return a
	}
	return slog.Float64(a.Key+"_ms", float64(a.Value.Duration().Microseconds())/1000)
}
