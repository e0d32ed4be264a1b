// Package consent stores the contact lists of organizations that send through an SMTP server:
// topics, and contacts with their choices. Such a server keeps no consent, so this database has
// the only copy. All processes on one database share it.
//
// The lists follow the rules of package core/sending, and behave as those of
// simulated accounts. Every write that adds contacts or changes topics locks the row of the
// list until its transaction ends. Contacts thus get their positions in the order in which they
// become visible, and a page never misses one that was added before it.
//
// Methods fail with a *sending.Failure. They take part in the transaction of their context.
package consent
