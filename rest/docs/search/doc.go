// Package search is the full-text search of the documentation. It keeps an inverted index
// in memory, which the server builds from the pages at the first search. A query finds
// pages, sections, and rows of tables, such as those of members, scopes and error codes.
package search
