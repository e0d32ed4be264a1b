package definitions

import (
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
)

// Change is how a bundle changes the definitions of an organization. Wanted has all definitions of the
// bundle, those that stay as they are too, and Removed those that the organization loses.
type Change struct {
	Wanted  *Set
	Removed map[Ref]bool
}

// Work is what is to be done with the definitions of one kind.
type Work struct {
	Change
	// Save has the keys of the definitions of Wanted that are created or replaced, and Remove those
	// of the definitions that are archived or deleted. Both are sorted.
	Save, Remove []string
	// Origin is where the definitions are edited from now on.
	Origin core.Origin
	// Paths has the paths of the files of definitions, by their keys. SourceURL is the address of the
	// repository's file browser, "" if it has none.
	Paths     map[string]string
	SourceURL string
	// Branch is the branch of the repository from which the definitions come, "" for a bundle.
	Branch string
	// Author has the credential, or the person behind it, that applies the change.
	Author Author
	// Broken has why definitions do not work that are saved although they have an error.
	Broken map[string]string
}

// Author is who applies a change. UserID is the person for whom an application acts, "" for none.
type Author struct{ Kind, ID, UserID string }

// Saves reports whether the definition with the key is created or replaced.
func (w Work) Saves(key string) bool {
	_, found := slices.BinarySearch(w.Save, key)
	return found
}

// The parts of a template in which a diagnostic can be.
const (
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
