// Package engine decides what a run of a workflow does next. It is pure: it uses no storage
// and no clock. The caller passes the state of a run, the data of its contact and the time, and
// gets the next state, what the run has done, and what has to be done for it.
//
//	plan := engine.Compile(checked)
//	moved := plan.Advance(state, facts)
//
// Package runner runs it for stored runs, and packages simulation and workflows run it for
// contacts in memory. So a dry run takes the same steps as a real run.
//
// # Order of a step
//
// Before each step, the named exits of the workflow are tested in their order. The first that
// matches ends the run. Then the step begins, which adds the event step_entered. Steps without a
// wait follow one another in the same call of Advance.
//
// A send waits in this order: for a person if sends need approval, for the send window of the
// workflow, and for the account to take the message. The exits are tested again after each of the
// first two waits, and then the frequency cap and consent.
package engine
