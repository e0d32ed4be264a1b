package cli

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"
)

// PrintJSON writes v as one indented JSON object to standard output. It does not escape
// characters that are special in HTML alone: addresses contain ampersands.
func (p *Program) PrintJSON(v any) error {
	e := json.NewEncoder(p.Stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// PrintTable writes rows with aligned columns to standard output. It counts widths in
// characters.
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

// Logger returns a logger that writes JSON lines from the given level to standard error;
// standard output is for results. It also becomes the default of libraries, from
// warnings up.
func (p *Program) Logger(level string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, err
	}
	to := func(l slog.Level) *slog.Logger {
		return slog.New(slog.NewJSONHandler(p.Stderr, &slog.HandlerOptions{Level: l}))
	}
	slog.SetDefault(to(max(l, slog.LevelWarn)))
	return to(l), nil
}
