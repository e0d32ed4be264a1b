// Package schema returns the input and output schemas of tools. It shortens the schemas of
// the operations, because agents pay for every byte of the list of tools.
package schema
