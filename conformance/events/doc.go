// Package events tests events of mail from their arrival to every place that shows them.
// It sends records of every type that Amazon SES publishes: signed by a notification
// topic, and posted with an event bus's key. It also uses those that a simulated account
// publishes after a send.
package events
