// Package handover passes messages to sending accounts, so that no recipient gets a message
// twice and none is lost without an outcome. Messages that differ only in the values of a
// template leave in bulk calls, if the account has these; see core/doc/decisions/0094.
//
// A send is the mailing of one message to many recipients, such as a broadcast. Each
// [Recipient] of a send is a row in the database with a [State]:
//
//	pending ──claim──▶ handing_over ──accept──▶ sent
//	   │ ▲                  │ │
//	   │ └──release─────────┘ └──refuse, give up──▶ failed
//	   └──filter──▶ filtered
//
// The state handing_over is committed before the sending account is called. No provider of
// mail has calls that may be repeated safely, so a recipient goes back to pending only if the
// account has said that it did not accept the message. After a crash or an unknown outcome the
// recipient waits for an event of the provider about the message, which proves that it was
// sent. If none arrives within [Patience], the recipient is failed with the reason
// [OutcomeUnknown], and is not mailed again. An event that arrives later corrects this.
//
// The methods of [Recipient] are the protocol: each returns the next row, or false if the
// change does not apply. A test explores all orders of crashes, pauses, lost answers, late
// events and retries of several workers with these methods. The argument is in
// core/doc/decisions/0086.
package handover
