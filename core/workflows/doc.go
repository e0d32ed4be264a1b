// Package workflows has the records of workflows, the operations on them, and what people do
// with them on the dashboard.
//
// A workflow is a journey that contacts take one by one: its source is written in the language
// of package language. A contact's way through it is a run. A run keeps the version of the
// workflow with which it began.
//
//   - Package language parses, checks and prints sources, and package diagram draws them.
//   - Package engine decides what a run does next.
//   - Package runner keeps runs moving: timers, triggers and waits for changes.
//   - Package mailing passes the messages of runs to the sending account.
//   - Package simulation lets contacts in memory run through a workflow.
//
// # Versions
//
// A workflow has at most one draft, the version that an author writes, and one current version,
// in which new runs begin. Saving changes the draft, and activating makes it the current
// version. So nothing that an author saves reaches contacts before an activation.
//
// # Size
//
// It is one package because pages and operations do the same with workflows: what an agent may
// do is a part of what a person may do, with the same refusals and the same preview.
package workflows
