// Package plan compares the definitions of an organization with those of a bundle, and says what has
// to be done so that the organization has them: the plan, which people read before it is applied.
//
// The package neither reads files (package manifest) nor applies anything. The rules of the kinds,
// such as which predicates compile, come to it as diagnostics.
package plan
