package inbound

import (
	"context"
	"errors"
	"io"
)

// Scanner judges the content of messages, for spam or for malware.
type Scanner interface {
	// Scan sends a message to the scanner and returns what it found. size is the number of bytes
	// that raw contains; any other number is an error. An error means that the message was not
	// judged, so its verdict is [ProcessingFailed]. Without a scanner, that is with a nil Scanner,
	// the verdict is [Disabled].
	Scan(ctx context.Context, e Envelope, raw io.Reader, size int64) (Finding, error)
}

// ErrTooLarge means that a scanner accepts no message of this size.
var ErrTooLarge = errors.New("the message is larger than the scanner accepts")

// Finding is what a scanner found in a message.
type Finding struct {
	// Verdict is [Pass], [Fail] or [Gray].
	Verdict Verdict
	// Reason is the word of the scanner for its verdict: the action of a spam scanner, or the
	// name of the malware. It is at most 200 characters, and none of them is a control
	// character. It is "" if a virus scanner found nothing.
	Reason string
	// Score is the sum of the scores of the symbols of a spam scanner. Higher means more likely
	// spam.
	Score float64
	// Symbols has the names of the rules of a spam scanner that matched, sorted, at most 100.
	Symbols []string
}
