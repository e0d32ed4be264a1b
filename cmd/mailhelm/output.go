package main

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"unicode/utf8"
)

// printJSON writes one indented object. Characters that matter to HTML alone are
// left as they are: addresses hold ampersands.
func (p *program) printJSON(v any) error {
	e := json.NewEncoder(p.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// printTable writes rows with their columns aligned. Widths are counted in
// characters.
func (p *program) printTable(indent string, rows [][]string) error {
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
		if _, err := fmt.Fprintln(p.stdout, indent+strings.TrimRight(line.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// logger writes JSON lines to standard error, so that standard output is free
// for what a command prints. Libraries that log by themselves are heard from
// warnings up.
func (p *program) logger(level string) (*slog.Logger, error) {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, err
	}
	to := func(l slog.Level) *slog.Logger {
		return slog.New(slog.NewJSONHandler(p.stderr, &slog.HandlerOptions{Level: l}))
	}
	slog.SetDefault(to(max(l, slog.LevelWarn)))
	return to(l), nil
}
