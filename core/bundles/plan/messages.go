package plan

import (
	"fmt"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
)

// ownedByGit is the error about a definition that the repository of the organization defines.
func ownedByGit() definitions.Diagnostic {
	return definitions.Diagnostic{Severity: definitions.Error, Code: GitOwned, Message: "The repository of the organization defines it. Change it there."}
}

// maxNamed is the number of segments that a message names.
const maxNamed = 5

// usedBy says which segments test an attribute.
func usedBy(segments []string) string {
	text := "It stays, because these segments test it: " + core.QuotedList(segments[:min(len(segments), maxNamed)])
	if more := len(segments) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + ". Change or remove them, and apply the bundle again."
}
