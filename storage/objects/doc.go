// Package objects stores in which buckets organizations keep received mail. It stores no
// mail.
package objects
