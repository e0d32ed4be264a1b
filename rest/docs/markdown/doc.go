// Package markdown renders the Markdown sources of the documentation to HTML. It also
// returns their headings, and their texts for the search index.
//
// Raw HTML in a source is an error, so that a page has exactly the elements that this
// package writes. Each row of a table whose first cell is a single code span gets an id, so
// that links and search results can lead to the row of a member, a code or a scope.
package markdown
