// Package parse reads received mail: the header, the bodies as UTF-8, and the list of
// attachments.
//
// Received mail is written by anyone, so no message is refused. Parse tolerates every
// deviation from RFC 5322 and MIME (RFC 2045 to 2047, 2231), and adds a [Warning] to the
// result for what it had to guess or leave out. It fails only if the message cannot be read
// from storage. The stored message itself is never changed.
//
// # One pass
//
// The message is read once, front to back, through a buffer of 32 KiB. The pass collects
// header fields and the offsets of the parts. Text bodies are then decoded from their
// offsets, and attachments when they are opened. Memory depends on [Limits], not on the size
// of the message, and time is proportional to the size.
//
// # Why no library
//
// The module github.com/emersion/go-message is fast, but stops at the first deviation, for
// example a line without a colon in a header. The module github.com/jhillyerd/enmime
// tolerates more, but holds all parts in memory several times, has no limits, and takes time
// that grows with the square of the number of parts. Reading strictly first and tolerantly
// on error needs both, and results would depend on which of them read the message. Tests
// compare this package with go-message and the standard library on valid input. The
// measurements are in core/doc/dependencies.md.
package parse
