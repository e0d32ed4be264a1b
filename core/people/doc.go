// Package people signs people in and out. It manages passwords and their changes, links
// that reset a password, sessions, second factors (authenticator apps, passkeys, recovery
// codes), known devices and the jobs that send mail to people.
//
// It has no pages: they are in oauth/login. The limits on guessing are in core/attempts,
// the rules and hashes of passwords in core/passwords, memberships in core/members.
//
// Mail is sent by the operator's own [letters.Sender], never by an organization's sending
// account. The owner of that account could read the mail, and so sign in to other
// organizations as the person. An operation that may send mail enqueues a job whether or
// not the address exists. So neither its result nor its duration reveals which addresses
// exist.
package people
