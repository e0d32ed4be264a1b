package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/mailhelm/mailhelm/core"
)

// Explain rewrites a [core.Error], the error of a refused request, for a person at a shell.
// The text names flags and arguments instead of request fields, and ends with the next
// step; the error code is left out. Explain returns nil, internal errors and errors of
// other types unchanged. Call it after parsing, because it reads the flags of the selected
// command.
func (p *Program) Explain(err error) error {
	refusal, ok := errors.AsType[*core.Error](err)
	if !ok || refusal.Code == core.CodeInternalError {
		return err
	}
	if refusal.Code == core.CodeOverloaded {
		return fmt.Errorf("the database was busy%s, so the command gave up: another process, such as an import, is writing to it; run the command again when that process has finished", p.busyTime())
	}
	text := p.refusalText(refusal)
	if refusal.Next != "" {
		text += " " + refusal.Next
	}
	return errors.New(strings.ReplaceAll(text, "`", ""))
}

// busyTime returns how long the command waited for the busy database, such as " for 1m0s".
// It returns "" if the command waits for the default time of the database.
func (p *Program) busyTime() string {
	if p.BusyWait == 0 {
		return ""
	}
	return " for " + p.BusyWait.String()
}

// refusalText returns the message of a refusal. In the message, the flags and arguments
// that set a request field replace the field's name. A message that names no field stays
// unchanged.
func (p *Program) refusalText(refusal *core.Error) string {
	if len(refusal.Fields) == 0 || refusal.Message != core.InvalidFields(refusal.Fields...).Message {
		return refusal.Message // it names no field
	}
	typed := make([]core.FieldError, len(refusal.Fields))
	for i, f := range refusal.Fields {
		typed[i] = core.FieldError{Field: p.flagOf(f.Field), Reason: f.Reason}
	}
	return core.InvalidFields(typed...).Message
}

// flagOf returns the flags and arguments of the selected command that set a request field,
// or the field's name if there are none. The struct tag "field" names the request field
// where it differs from the flag's name.
func (p *Program) flagOf(field string) string {
	var names []string
	sets := func(v *kong.Value) bool {
		if v.Tag.Has("field") {
			return v.Tag.Get("field") == field
		}
		return strings.ReplaceAll(v.Name, "-", "_") == field
	}
	node := p.Parsed.Selected()
	for _, flag := range node.Flags {
		if sets(flag.Value) {
			names = append(names, "--"+flag.Name)
		}
	}
	for _, argument := range node.Positional {
		if sets(argument) {
			names = append(names, "<"+argument.Name+">")
		}
	}
	if len(names) == 0 {
		return field
	}
	return strings.Join(names, " or ")
}
