// Package senders has verified senders: the mailboxes that people have proven to own. A
// temporary inbox that receives only from verified senders is exempt from the quota of new
// inboxes.
//
// A person claims an address, and a job mails a code of six digits to it. The person enters
// the code, which proves that the person reads the mailbox. An address has one claim in an
// organization. A claim belongs to one owner: a person, or an API key that no person created;
// see [core.Principal.Owner].
//
// Codes are sent by the operator's own [letters.Sender], never by an organization's sending
// account, whose owner could read the code and so prove any mailbox. The job creates the code,
// so that it is in no queue and in no answer. The database has only a keyed hash: a plain hash
// of six digits could be reversed by trying all of them.
//
// Package inboxes asks [Store] which addresses a person has verified.
package senders
