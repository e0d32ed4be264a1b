package docs

import (
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/rest"
)

// operation is an operation of the catalogue with its routes. Tool says whether it is also
// an MCP tool.
type operation struct {
	core.OperationInfo
	Tool   bool
	Routes []rest.Route
}

// EffectText describes in words whether the operation reads, writes or destroys.
func (o operation) EffectText() string {
	switch o.Effect {
	case core.Writes:
		return "changes things; can be changed back"
	case core.Destroys:
		return "cannot simply be undone; refused to test credentials"
	}
	return "reads only"
}

// operationsOf returns all operations in the order of the catalogue.
func operationsOf(cfg Config) []operation {
	var list []operation
	for _, guarded := range cfg.Catalogue.Operations() {
		o := operation{OperationInfo: guarded.Info()}
		o.Tool = slices.Contains(cfg.Tools, o.Name)
		for _, route := range rest.Routes() {
			if route.Operation == o.Name {
				o.Routes = append(o.Routes, route)
			}
		}
		list = append(list, o)
	}
	return list
}

// Summary returns the first sentence of the operation's purpose.
func (o operation) Summary() string {
	first, _, cut := strings.Cut(o.Purpose, ". ")
	if cut {
		first += "."
	}
	return first
}

// scopeUse is a scope with the names of the operations that need it.
type scopeUse struct {
	core.ScopeInfo
	Operations []string
}

// scopesOf returns all scopes, each with the names of the operations that need it.
func scopesOf(cfg Config) []scopeUse {
	var list []scopeUse
	for _, info := range core.ScopeCatalogue() {
		use := scopeUse{ScopeInfo: info}
		for _, guarded := range cfg.Catalogue.Operations() {
			if slices.Contains(guarded.Info().Scopes, info.Scope) {
				use.Operations = append(use.Operations, guarded.Info().Name)
			}
		}
		list = append(list, use)
	}
	return list
}
