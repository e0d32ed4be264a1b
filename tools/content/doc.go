// Package content writes values as the content of tool results: JSON that fits the
// length of a result, says what it leaves out, and shows no invisible characters.
package content
