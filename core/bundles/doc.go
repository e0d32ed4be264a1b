// Package bundles exports the definitions of an organization as a bundle: a folder of files that
// people review and keep in a version control system, as a zip archive or JSON.
//
// # What this package owns
//
// The operation bundles_export (bundles_export.go): which sections a credential may read, and the form
// of the answer.
//
// # What other packages own
//
// Package definitions has the definitions, package manifest the files of a bundle, package archive
// zip and JSON, and package plan what a bundle would change. The definitions are stored by the packages
// of their subjects, such as core/segments; this package reads them through [Store].
package bundles
