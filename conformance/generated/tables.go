package generated

import (
	"slices"
	"strconv"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/rest"
	"github.com/mailhelm/mailhelm/tools"
)

// declarations returns the description of every operation (name, purpose, scopes and so
// on), in the order of [catalogue.Operations].
func declarations() []core.OperationInfo {
	var all []core.OperationInfo
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		all = append(all, op.Info())
	}
	return all
}

// toolTable returns the Markdown table of MCP tools for the README, in the order in which
// tools/list returns them. It leaves out a tool without an operation.
func toolTable() string {
	operations := declarations()
	var rows [][]string
	for _, name := range tools.Table() {
		at := slices.IndexFunc(operations, func(info core.OperationInfo) bool { return info.Name == name })
		if at < 0 {
			continue // a tool without an operation
		}
		info := operations[at]
		rows = append(rows, []string{code(info.Name), firstSentence(info.Purpose), info.Effect.String(), codes(info.Scopes)})
	}
	return table([]string{"tool", "what it does", "effect", "scopes"}, rows)
}

// routeTable returns the Markdown table of the public API's routes for the README. If a
// route needs no scope, the scope column says "any credential".
func routeTable() string {
	operations := declarations()
	var rows [][]string
	for _, route := range rest.Routes() {
		at := slices.IndexFunc(operations, func(info core.OperationInfo) bool { return info.Name == route.Operation })
		if at < 0 {
			continue
		}
		info := operations[at]
		scopes := codes(info.Scopes)
		if scopes == "" {
			scopes = "any credential"
		}
		rows = append(rows, []string{code(route.Method + " " + route.Path), info.Title, info.Effect.String(), scopes})
	}
	return table([]string{"route", "what it does", "effect", "scopes"}, rows)
}

// scopeTable returns the Markdown table of scopes with the operations that need each scope.
func scopeTable() string {
	operations := declarations()
	var rows [][]string
	for _, info := range core.ScopeCatalogue() {
		var needing []string
		for _, op := range operations {
			if slices.Contains(op.Scopes, info.Scope) {
				needing = append(needing, op.Name)
			}
		}
		personal := ""
		if info.Personal {
			personal = "yes"
		}
		rows = append(rows, []string{code(string(info.Scope)), info.Description, personal, codes(needing)})
	}
	return table([]string{"scope", "what it allows", "personal data", "operations"}, rows)
}

// errorTable returns the Markdown table of error codes with their status, meaning and
// remedy.
func errorTable() string {
	var rows [][]string
	for _, info := range core.Codes() {
		again := ""
		if info.Retryable {
			again = "yes"
		}
		rows = append(rows, []string{code(string(info.Code)), strconv.Itoa(info.Status), again, info.Meaning, info.Remedy})
	}
	return table([]string{"code", "status", "retry", "what happened", "what to do"}, rows)
}

// scopesDocument returns the complete text of the file core/doc/scopes.md.
func scopesDocument() string {
	return notice + "# Scopes\n\nThe catalogue is closed: a credential can hold nothing else. Scopes that no operation needs yet are\nlisted, because credentials can hold them already.\n\n" + scopeTable()
}

// errorsDocument returns the complete text of the file core/doc/errors.md.
func errorsDocument() string {
	return notice + "# Errors\n\nEvery refusal carries one of these codes, over REST in a problem document, from a tool in its result.\nThe problem's `type` leads to a page for the code at `/api/errors/CODE` of the served documentation.\n\n" + errorTable()
}
