// Package imports has the dashboard's pages that import contacts from a file: upload,
// assignment of columns, check of all rows with a preview, progress and result.
//
// The file and the state of its import are in core/contactimport, which checks and imports
// in a job. The pages show them, and refresh while the job runs.
package imports
