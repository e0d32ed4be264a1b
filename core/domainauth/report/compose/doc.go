// Package compose writes DMARC aggregate reports in XML, in the form of RFC 9990 or of RFC 7489
// appendix C. Package report reads them.
//
// It sends nothing, and counts no mail: callers say what the report has. It accepts only what
// package report reads back without a change.
package compose
