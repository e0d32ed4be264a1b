package reference

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/rest/docs/article"
)

// everyCall are the errors that a call of any operation can have. The pages of operations
// name them in one sentence.
var everyCall = []core.Code{
	core.CodeInvalidKey, core.CodeKeyRevoked, core.CodeKeyExpired, core.CodeRateLimited,
	core.CodeOverloaded, core.CodeTemporarilyUnavailable, core.CodeInternalError,
}

// errors writes the section about the errors of an operation on a surface: those that
// follow from its declaration, and those that it declares.
func (o operation) errors(b *strings.Builder, surface core.Surface) {
	t := newTable("Code", "Status", "Meaning", "What to do")
	codes := codes(o.OperationInfo, surface)
	for _, info := range core.Codes() {
		if slices.Contains(codes, info.Code) {
			t.row(errorLink(info.Code), fmt.Sprint(info.Status), article.Escape(info.Meaning), article.Escape(info.Remedy))
		}
	}
	common := make([]string, 0, len(everyCall))
	for _, code := range everyCall {
		common = append(common, errorLink(code))
	}
	section(b, "Errors", t.String()+"\nEvery call can also fail with "+strings.Join(common, ", ")+".\n")
}

// Codes returns the codes of all errors that the documentation names for an operation on a
// surface.
func Codes(o core.OperationInfo, surface core.Surface) []core.Code {
	return append(codes(o, surface), everyCall...)
}

// codes returns the codes of the errors of an operation on a surface, without those that
// every call can have.
func codes(o core.OperationInfo, surface core.Surface) []core.Code {
	codes := slices.Clone(o.Fails)
	if len(o.Scopes) > 0 {
		codes = append(codes, core.CodeInvalidScope)
	}
	if len(o.ArgumentScopes) > 0 && surface == core.Agent {
		codes = append(codes, core.CodeMissingScope)
	}
	if o.Effect == core.Destroys {
		codes = append(codes, core.CodeTestEnvironmentForbidden)
	}
	if o.Effect != core.Reads {
		codes = append(codes, core.CodeConflict)
	}
	switch o.GitOwned {
	case core.GitRefused:
		codes = append(codes, core.CodeGitOwned)
	case core.GitPullRequest:
		codes = append(codes, core.CodePullRequestRequired)
	}
	if o.Confirms && surface == core.Agent {
		codes = append(codes, core.CodeConfirmationInvalid)
	}
	return append(codes, core.CodeValidationFailed) // also for arguments that the operation does not have
}
