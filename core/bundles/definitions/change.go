package definitions

import (
	"net/url"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// Change is how a bundle changes the definitions of an organization. Wanted has all definitions of the
// bundle, those that stay as they are too, and Removed those that the organization loses. Keys has the
// keys of the definitions of the bundle, also of those that could not be read and that Wanted lacks.
type Change struct {
	Wanted  *Set
	Removed map[Ref]bool
	Keys    map[Kind][]string
}

// Work is what is to be done with the definitions of one kind.
type Work struct {
	Change
	// Save has the keys of the definitions of Wanted that are created or replaced, and Remove those
	// of the definitions that are archived or deleted. Both are sorted.
	Save, Remove []string
	// Origin is where the definitions are edited from now on.
	Origin core.Origin
	// Paths has the paths of the files of definitions, by their keys. FilesURL is the address below
	// which a browser shows the files, without "/" at its end, "" if there is none.
	Paths    map[string]string
	FilesURL string
	// Branch is the branch of the repository from which the definitions come, "" for a bundle.
	Branch string
	// Author has the credential, or the person behind it, that applies the change.
	Author Author
	// Broken has why definitions do not work that are saved although they have an error. Each has
	// at least one reason, which is a sentence. Wanted lacks those that could not be read.
	Broken map[string][]string
}

// Author is who applies a change. UserID is the person for whom an application acts, "" for none.
type Author struct{ Kind, ID, UserID string }

// Source is where the file of a definition is: its path from the manifest, and the address at which a browser
// shows it, "" if there is none.
type Source struct{ Path, URL string }

// SourceOf returns where the file of the definition with the key is.
func (w Work) SourceOf(key string) Source {
	s := Source{Path: w.Paths[key]}
	if w.FilesURL != "" && s.Path != "" {
		s.URL = w.FilesURL + "/" + EscapePath(s.Path)
	}
	return s
}

// EscapePath returns a path of a file as it is written in a URL.
func EscapePath(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return strings.Join(parts, "/")
}

// Saves reports whether the definition with the key is created or replaced.
func (w Work) Saves(key string) bool {
	_, found := slices.BinarySearch(w.Save, key)
	return found
}

// Reason returns the first reason why a definition does not work, "" for one that works.
func (w Work) Reason(key string) string {
	if reasons := w.Broken[key]; len(reasons) > 0 {
		return reasons[0]
	}
	return ""
}

// The parts of a template in which a diagnostic can be. A template with an error in its key cannot be
// stored at all.
const (
	PartKey      = "key"
	PartSubject  = "subject"
	PartText     = "text"
	PartTestData = "testdata"
)

// Faults has what is wrong with definitions of one kind, by their keys. The path of a diagnostic is
// empty: it is about the file of the definition, or about the part of it that Diagnostic.Part names.
type Faults map[string][]Diagnostic

// Add adds a diagnostic.
func (f Faults) Add(key string, d Diagnostic) { f[key] = append(f[key], d) }

// AddError adds the faults of an error that refuses a definition. It returns other errors.
func (f Faults) AddError(key string, err error) error {
	if err == nil {
		return nil
	}
	refusal := core.AsError(err)
	if refusal.Code != core.CodeValidationFailed && refusal.Code != core.CodeConflict {
		return err
	}
	for _, field := range refusal.Fields {
		f.Add(key, Diagnostic{Severity: Error, Code: string(refusal.Code), Message: "`" + field.Field + "` " + field.Reason + "."})
	}
	if len(refusal.Fields) == 0 {
		f.Add(key, Diagnostic{Severity: Error, Code: string(refusal.Code), Message: strings.TrimSpace(refusal.Message + " " + refusal.Next)})
	}
	return nil
}
