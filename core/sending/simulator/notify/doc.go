// Package notify delivers the simulated account's events as the provider's
// notification service does: posted over HTTP, signed, after the endpoint has
// confirmed its subscription, and again until they arrive. It does not make
// events and does not judge them.
package notify
