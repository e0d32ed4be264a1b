package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/mailhelm/mailhelm/core"
)

// explained is an error as a person at a shell reads it: a refusal without its
// code, in the words of the command line, with what to do about it.
func (p *program) explained(err error) error {
	refusal, ok := errors.AsType[*core.Error](err)
	if !ok || refusal.Code == core.CodeInternalError {
		return err
	}
	if refusal.Code == core.CodeOverloaded {
		return fmt.Errorf("the database was busy for %s, so the command gave up: another process, such as an import, is writing to it. Run the command again when that process has finished.", p.wait)
	}
	text := p.refusalText(refusal)
	if refusal.Next != "" {
		text += " " + refusal.Next
	}
	return errors.New(strings.ReplaceAll(text, "`", ""))
}

// refusalText names what the person typed. The core names members of a request:
// its callers are programs.
func (p *program) refusalText(refusal *core.Error) string {
	if len(refusal.Fields) == 0 || refusal.Message != core.InvalidFields(refusal.Fields...).Message {
		return refusal.Message // it has words of its own
	}
	typed := make([]core.FieldError, len(refusal.Fields))
	for i, f := range refusal.Fields {
		typed[i] = core.FieldError{Field: p.typed(f.Field), Reason: f.Reason}
	}
	return core.InvalidFields(typed...).Message
}

// typed is how the selected command is given a member of a request: its flag, or
// the name of its argument. The tag "field" says which where their names differ.
func (p *program) typed(member string) string {
	var names []string
	gives := func(v *kong.Value) bool {
		if v.Tag.Has("field") {
			return v.Tag.Get("field") == member
		}
		return strings.ReplaceAll(v.Name, "-", "_") == member
	}
	node := p.parsed.Selected()
	for _, flag := range node.Flags {
		if gives(flag.Value) {
			names = append(names, "--"+flag.Name)
		}
	}
	for _, argument := range node.Positional {
		if gives(argument) {
			names = append(names, "<"+argument.Name+">")
		}
	}
	if len(names) == 0 {
		return member
	}
	return strings.Join(names, " or ")
}
