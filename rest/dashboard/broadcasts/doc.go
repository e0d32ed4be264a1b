// Package broadcasts has the dashboard's pages about broadcasts: the list, the form that
// writes a draft, and the page of one broadcast. That page has the preview, test sends and
// the two steps of a send, and later the progress and the results.
//
// Creating, previewing, testing, sending and deleting are calls of operations. Editing,
// rescheduling, cancelling, pausing and dividing a broadcast have no operation. These pages
// call core/broadcasts in a transaction that checks the permission, and write an event to the
// audit log.
//
// Names, subjects and contents are texts of other people. A mail is shown only in a sandboxed
// frame.
package broadcasts
