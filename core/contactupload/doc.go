// Package contactupload has the record of an uploaded contact file, and the interface of the
// store for uploads. Package core/contactimport checks and imports the files in a job.
package contactupload
