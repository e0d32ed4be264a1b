// Package notify delivers the simulated account's events like the provider's
// notification service. It posts them over HTTP, signed, after the endpoint has
// confirmed its subscription, and retries until they are delivered. It neither creates
// nor interprets events.
package notify
