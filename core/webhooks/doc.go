// Package webhooks sends the events of messages to URLs that organizations choose. An
// endpoint is such a URL with the types of events that it receives. Each event is one
// delivery for each endpoint that wants it.
//
// Deliveries are rows of a table. They are created in the transaction that stores the
// events, and claimed by lease by the [Courier] of each process that runs jobs. Package
// core/standardhooks has the form of the messages and the times of the attempts.
package webhooks
