// Package content writes values as the content of tool results. The JSON fits the maximum
// length of a result, lists what was left out, and contains no invisible characters.
package content
