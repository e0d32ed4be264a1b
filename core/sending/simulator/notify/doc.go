// Package notify delivers the events of simulated accounts in the way of Amazon SNS
// (Simple Notification Service): it posts signed notifications over HTTP to an endpoint
// that has confirmed its subscription. An event that the endpoint refuses for good, by
// most statuses 4xx, is dropped; after other failures it stays due for the next delivery.
// The package neither creates nor interprets events.
package notify
