// Package article has the type of a page of the documentation: its place in the navigation,
// its Markdown source and its examples. It also writes the Markdown form of a page, which
// assistants read.
package article
