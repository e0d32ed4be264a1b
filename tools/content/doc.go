// Package content encodes values as the content of tool results. It shortens a value that
// exceeds the maximum length of a result, lists what it left out, and can remove invisible
// characters.
package content
