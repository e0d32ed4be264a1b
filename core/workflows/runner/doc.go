// Package runner keeps the runs of workflows moving. It takes the runs whose timers have ended,
// lets contacts enter for whom a trigger has happened, and wakes the runs of contacts that have
// changed. Every process with workers has a [Runner]; several share the work of one workflow.
//
// # One transaction for each batch
//
// A batch of due runs is read, moved by package engine and stored in one transaction: the new
// states and timers, the events of the timelines, the changes of contacts, and the messages to
// send. The rows of the runs are locked until its end, and other processes skip locked rows. So
// the lock is the lease: when a process is killed, the database ends its transaction, and the
// runs are due again at once, with nothing done.
//
// # Sleeping runs
//
// No query reads a run whose timer has not ended. [workflows.TimerStore.Busy] reads one row of
// the index of timers for each open workflow.
//
// # Waits for changes
//
// A change of a contact adds a note if some workflow of the organization waits for changes; see
// [Observer]. The runner locks the active runs of the contact before it wakes those that wait,
// so a run that begins to wait while its contact changes is not missed.
package runner
