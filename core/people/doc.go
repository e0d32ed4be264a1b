// Package people is how people keep their way in: they change a password, reset a
// forgotten one by a mailed link, and are let through while a guesser tries their
// address. It owns the limits on guessing, the devices that a person signed in on
// before, the links of resets, and every mail of the service to its people.
//
// It does not sign in and has no pages: sessions, password hashes and second
// factors are core/access, the pages oauth/login. Mail goes through the operator's
// own [Sender] and never through an organization's sending account, whose owner
// could read it and so enter other organizations as that person.
//
// What may mail is left as a job, for addresses that exist and that do not, so that
// neither an answer nor its time tells which exist.
package people
