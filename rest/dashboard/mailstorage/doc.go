// Package mailstorage has the dashboard page on which an organization chooses where its
// received mail is stored: in files of the installation, or in a bucket of its own.
package mailstorage
