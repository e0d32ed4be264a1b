// Package people changes and resets passwords and warns people of attacks on their
// accounts. It owns the links of resets and the jobs that mail to people.
//
// Mail goes through the operator's own [letters.Sender] and never through an
// organization's sending account: its owner could read the mail and so enter other
// organizations as that person.
//
// A task that may mail enqueues a job for addresses that exist and for addresses that do
// not. So neither an answer nor its time tells which exist.
package people
