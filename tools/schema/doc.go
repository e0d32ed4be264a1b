// Package schema writes the input and output schemas of tools. They are those of the
// operations in a shorter form, because agents pay for every byte of the list of tools.
package schema
