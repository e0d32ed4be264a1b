// Package editors has the TextMate grammar of workflow files, with which editors and code
// hosts colour them. It is generated from the keywords of the language.
package editors
