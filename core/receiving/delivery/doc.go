// Package delivery logs the mail of receiving domains and sends it to their webhooks.
//
// [Destination] stores a message that was processed, and decides by the published routing
// whether it is delivered. The [Courier] of each process that runs jobs sends due deliveries: it
// leases one endpoint at a time, so that at most InFlight deliveries are sent to it. [Desk] has
// what people do: test a webhook and send messages again.
package delivery
