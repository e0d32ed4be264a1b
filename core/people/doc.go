// Package people signs people in and out. It owns passwords and their changes, links of
// resets, sessions, second factors (authenticator apps, passkeys, recovery codes), known
// devices and the jobs that mail to people.
//
// It has no pages: they are oauth/login. The limits on guessing are core/attempts, the
// rules and hashes of passwords core/passwords, memberships core/members.
//
// Mail goes through the operator's own [letters.Sender] and never through an
// organization's sending account: its owner could read the mail and so enter other
// organizations as that person. A task that may mail enqueues a job for addresses that
// exist and for addresses that do not. So neither an answer nor its time tells which
// exist.
package people
