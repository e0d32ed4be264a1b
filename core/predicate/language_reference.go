package predicate

import _ "embed" // the reference below

// Reference is a description of the predicate language with examples for authors of
// predicates, in less than 2,000 bytes.
//
//go:embed language_reference.md
var Reference string
