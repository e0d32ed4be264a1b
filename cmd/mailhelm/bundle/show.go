package bundle

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/bundles/plan"
)

// The colours of a terminal (ECMA-48, SGR).
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	bold   = "1"
)

// screen writes plans and diagnostics.
type screen struct {
	to     io.Writer
	colour bool
	folder folder
}

// in returns a text in a colour, if the screen has colours.
func (s screen) in(colour, text string) string {
	if !s.colour {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

func (s screen) printf(format string, values ...any) { _, _ = fmt.Fprintf(s.to, format, values...) }

// sign is how an action is shown: a sign before the definition, in a colour, with a note after it. The
// name of the action counts the definitions.
type sign struct{ sign, colour, note string }

// signs has the actions that a plan shows. Definitions that stay as they are are counted only.
var signs = map[plan.Action]sign{
	plan.Create:  {"+", green, ""},
	plan.Update:  {"~", yellow, ""},
	plan.Archive: {"-", red, "archive"},
	plan.Delete:  {"-", red, "delete"},
	plan.Skip:    {"=", yellow, "stays"},
	plan.Invalid: {"!", red, "invalid"},
}

// counted are the actions in the order of the last line of a plan.
var counted = []plan.Action{plan.Create, plan.Update, plan.Archive, plan.Delete, plan.Unchanged, plan.Skip, plan.Invalid}

// changes returns the number of definitions that applying a plan changes.
func changes(p *plan.Plan) int {
	return p.Totals[plan.Create] + p.Totals[plan.Update] + p.Totals[plan.Archive] + p.Totals[plan.Delete]
}

// plan writes a plan: the definitions that change or have diagnostics, by kind, and the numbers.
func (s screen) plan(p *plan.Plan) {
	for _, d := range p.Diagnostics {
		s.diagnostic("", d)
	}
	for _, kind := range definitions.Kinds() {
		s.objects(kind, p.Objects)
	}
	if p.Applicable && changes(p) == 0 {
		s.printf("%s The organization has the definitions of the folder.\n", s.in(bold, "No changes."))
		return
	}
	var parts []string
	for _, action := range counted {
		if n := p.Totals[action]; n > 0 || action == plan.Create || action == plan.Update {
			parts = append(parts, fmt.Sprintf("%d %s", n, words[action]))
		}
	}
	s.printf("\n%s %s.\n", s.in(bold, "Plan:"), strings.Join(parts, ", "))
	if !p.Applicable {
		s.printf("%s\n", s.in(red, "The plan cannot be applied. Correct the errors above, and plan again."))
	}
}

// words are the names of actions in a sentence that counts them.
var words = map[plan.Action]string{
	plan.Create: "to create", plan.Update: "to update", plan.Archive: "to archive", plan.Delete: "to delete",
	plan.Unchanged: "unchanged", plan.Skip: "kept", plan.Invalid: "invalid",
}

// objects writes the definitions of a kind that change or have diagnostics, if there are any.
func (s screen) objects(kind definitions.Kind, all []plan.Object) {
	width, shown := 0, []plan.Object{}
	for _, o := range all {
		if o.Kind == kind && (o.Action != plan.Unchanged || len(o.Diagnostics) > 0) {
			shown = append(shown, o)
			width = max(width, utf8.RuneCountInString(core.OnlyVisible(o.Key)))
		}
	}
	if len(shown) == 0 {
		return
	}
	s.printf("%s\n", s.in(bold, strings.ReplaceAll(string(kind.Section()), "_", " ")))
	for _, o := range shown {
		as, key := signs[o.Action], core.OnlyVisible(o.Key)
		if as.sign == "" {
			as.sign = " "
		}
		line := as.sign + " " + key + strings.Repeat(" ", width-utf8.RuneCountInString(key)+2)
		switch {
		case as.note != "":
			line += "(" + as.note + ")"
		case o.Path != "":
			line += s.folder.file(core.OnlyVisible(o.Path))
		}
		s.printf("  %s\n", s.in(as.colour, strings.TrimRight(line, " ")))
		for _, d := range o.Diagnostics {
			s.diagnostic(o.Path, d)
		}
	}
}

// diagnostic writes a diagnostic as file:line:column: severity: message, which editors and terminals
// link. path is the file of the definition.
func (s screen) diagnostic(path string, d definitions.Diagnostic) {
	colour := yellow
	if d.Severity == definitions.Error {
		colour = red
	}
	if d.Path != "" {
		path = d.Path
	}
	at := ""
	if path != "" {
		at = s.folder.file(core.OnlyVisible(path)) + ":"
		if d.Line > 0 {
			at += fmt.Sprintf("%d:%d:", d.Line, d.Column)
		}
		at += " "
	}
	s.printf("    %s%s %s\n", at, s.in(colour, string(d.Severity)+":"), core.OnlyVisible(d.Message))
}
