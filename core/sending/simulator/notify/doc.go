// Package notify delivers the events of simulated accounts like Amazon SNS (Simple
// Notification Service). It posts signed notifications over HTTP to an endpoint that has
// confirmed its subscription. Events that an endpoint did not accept stay due, for the next
// delivery. The package neither creates nor interprets events.
package notify
