// Package receiving manages the receiving domains of organizations, and delivers their mail.
//
// [Receiving] has the operations: which DNS records a domain needs, whether they are published,
// its webhook, its addresses, and the log of its mail. Package core/inbound receives, judges and
// parses the mail.
//
// What receivers of mail must know is published. The [Publisher] writes the [Document] of a domain
// after a change, with a version of the routing of all domains. The [Router] of each process keeps
// the names of all published domains in memory, and reads every few seconds what has a later
// version.
//
// [Destination] logs a message that was processed, and decides by the published document whether
// it is delivered. The [Courier] of each process that runs jobs sends due deliveries to webhooks.
// It leases one endpoint at a time, so that at most InFlight deliveries are sent to it. [Desk] has
// what people do: test a webhook, and send messages again.
//
// # Size
//
// The operations, the routing and the deliveries of receiving domains share one vocabulary: the
// domain, its webhook and the log of its mail. As packages of their own they would import one
// another in a chain, and chains of imports are limited too.
package receiving
