// Package grammar describes the language of workflows: the rules with their meaning, the
// keywords, and a reference page that is generated from them. Editors, the documentation and
// the language server show these texts.
//
// Package language parses the language. The tests of this package parse every example and
// compare the keywords with the parser.
package grammar
