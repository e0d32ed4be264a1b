// Package people signs people in and out. It owns passwords and their changes, links of
// resets, sessions, second factors (authenticator apps, passkeys, recovery codes), known
// devices and the jobs that mail to people.
//
// It has no pages: they are in oauth/login. The limits on guessing are in core/attempts, the
// rules and hashes of passwords in core/passwords, memberships in core/members.
//
// Mail goes through the operator's own [letters.Sender] and never through an organization's
// sending account. The account's owner could read such mail, and so enter other
// organizations as that person. An operation that may send mail enqueues a job whether or
// not the address exists. So neither its answer nor its duration reveals which addresses
// exist.
package people
