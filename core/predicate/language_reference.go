package predicate

import _ "embed" // the reference below

// Reference teaches the language to an author, in under 2 KB.
//
//go:embed language_reference.md
var Reference string
