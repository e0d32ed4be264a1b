// Package messages stores messages with their events and recipients. It merges the events
// of a message in any order of arrival. It reads pages of messages by any filter, always
// through an index. For filters by several columns it also stores kinds of messages: the
// combinations of channel, identity, template and status that occur.
package messages
