// Package messages has the dashboard's pages about sent messages: a search, and one message
// with its diagnosis, the timeline of its events, and other messages to the same recipient.
//
// The pages read through operations, so a visitor sees recipients in full only with the
// permission to search recipients. Subjects, addresses and texts of mail servers come from
// other people; the pages show them without invisible characters.
package messages
