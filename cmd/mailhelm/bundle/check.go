package bundle

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/bundles/manifest"
	"github.com/mailhelm/mailhelm/core/handlebars"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// The codes of diagnostics that need no server. They are those of the server.
const (
	invalidPredicate = "invalid_predicate"
	invalidTemplate  = "invalid_template"
	invalidWorkflow  = "invalid_workflow"
)

// check returns what is wrong with a bundle as far as it can be known without the names of an
// organization, in the order of files and lines.
func check(r *manifest.Result) []definitions.Diagnostic {
	all := append([]definitions.Diagnostic{}, r.Diagnostics...)
	for ref, faults := range r.Faults {
		for _, d := range faults {
			d.Path = cmp.Or(d.Path, r.Paths[ref])
			all = append(all, d)
		}
	}
	for _, s := range r.Set.Segments {
		_, err := predicate.Parse(s.Predicate)
		all = append(all, languageFaults(invalidPredicate, r.Paths[definitions.Ref{Kind: definitions.KindSegment, Key: s.Key}], err)...)
	}
	for _, w := range r.Set.Workflows {
		all = append(all, workflowFaults(r.Paths[definitions.Ref{Kind: definitions.KindWorkflow, Key: w.Key}], w.Source)...)
	}
	for _, t := range r.Set.Templates {
		all = append(all, templateFaults(r.Paths[definitions.Ref{Kind: definitions.KindTemplate, Key: t.Key}], t)...)
	}
	for _, path := range r.Unused {
		if isSource(path) {
			all = append(all, definitions.Diagnostic{
				Severity: definitions.Warning, Code: manifest.UnusedFile, Path: path, Message: "The manifest does not name this file. Name it, or move it out of the folder.",
			})
		}
	}
	slices.SortStableFunc(all, func(a, b definitions.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return all
}

// isSource reports whether a file was probably meant to be named by the manifest.
func isSource(path string) bool {
	return slices.ContainsFunc([]string{".hbs", ".handlebars", ".predicate", ".flow"}, func(ending string) bool { return strings.HasSuffix(path, ending) })
}

// workflowFaults returns the faults and warnings of a workflow.
func workflowFaults(path, source string) []definitions.Diagnostic {
	tree, err := language.Parse(source)
	if err != nil {
		return languageFaults(invalidWorkflow, path, err)
	}
	warnings, err := language.CheckWithoutNames(tree)
	all := languageFaults(invalidWorkflow, path, err)
	for _, w := range warnings {
		message := w.Message
		if w.Suggestion != "" {
			message += "; did you mean " + w.Suggestion + "?"
		}
		all = append(all, definitions.Diagnostic{Severity: definitions.Warning, Code: string(w.Kind), Message: message, Path: path, Line: w.Line, Column: w.Column})
	}
	return all
}

// languageFaults returns the faults in an error of the languages of predicates and workflows.
func languageFaults(code, path string, err error) []definitions.Diagnostic {
	list := predicate.FaultsOf(err)
	all := make([]definitions.Diagnostic, 0, len(list))
	for _, f := range list {
		message := f.Message
		if f.Expected != "" {
			message += "; expected " + f.Expected
		}
		if f.Suggestion != "" {
			message += "; did you mean " + f.Suggestion + "?"
		}
		all = append(all, definitions.Diagnostic{Severity: definitions.Error, Code: code, Message: message, Path: path, Line: f.Line, Column: f.Column})
	}
	return all
}

// templateFaults returns the faults of the parts of a template. Those of its subject and of its plain
// text have no line, because the path is that of the HTML.
func templateFaults(path string, t definitions.Template) (all []definitions.Diagnostic) {
	for _, part := range []struct {
		name, source string
		mode         handlebars.Mode
	}{{"", t.HTML, handlebars.HTML}, {"subject", t.Subject, handlebars.Text}, {"plain text", t.Text, handlebars.Text}} {
		_, err := handlebars.Parse(part.source, part.mode)
		faults, _ := errors.AsType[handlebars.Faults](err)
		for _, f := range faults {
			d := definitions.Diagnostic{Severity: definitions.Error, Code: invalidTemplate, Message: f.Message, Path: path, Line: f.Line, Column: f.Column}
			if part.name != "" {
				d.Message, d.Line, d.Column = "In the "+part.name+" of the template "+core.Quote(t.Key)+", "+f.Error(), 0, 0
			}
			all = append(all, d)
		}
	}
	return all
}
