// Package definitions has the definitions of an organization that a bundle contains: eight kinds,
// from attributes to workflows, without the data of contacts. It is the vocabulary between the
// files of a bundle (package manifest), the comparison of two sets (package plan) and the
// organization itself.
//
// The package knows neither files nor the rules of the kinds, such as which predicates compile.
package definitions
