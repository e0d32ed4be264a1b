// Package people signs people in and out. It manages sessions, second factors
// (authenticator apps, passkeys, recovery codes), known devices, and the jobs that mail
// notices and warn about wrong passwords.
//
// It has no pages: they are in oauth/login. The limits on guessing are in core/attempts,
// changes and resets of passwords in core/passwordchange, the rules and hashes of passwords
// in core/passwords, memberships in core/members.
//
// Mail is sent by the operator's own [letters.Sender], never by an organization's sending
// account. The owner of that account could read the mail, and so sign in to other
// organizations as the person. An operation that may send mail enqueues a job whether or
// not the address exists. So neither its result nor its duration reveals which addresses
// exist.
package people
