// Package messages stores messages with their events, recipients and kinds, merges events in
// any order, and reads pages by any filter from an index.
package messages
