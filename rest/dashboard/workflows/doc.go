// Package workflows has the dashboard's pages about workflows: the list, the editor of
// sources, one workflow with its numbers, versions and runs, and the messages that wait for a
// person.
//
// The pages call [workflows.Editor] in a transaction that checks the permission, and write an
// event to the audit log. They read runs through its stores.
//
// Names, sources and the details of events are texts of other people.
package workflows
