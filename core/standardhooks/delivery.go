package standardhooks

import "time"

// Timeout is the maximum duration of one attempt, from the DNS lookup to the end of the
// response.
const Timeout = 10 * time.Second

// waits are the times between the attempts of a delivery. The first three attempts follow
// each other within seconds.
var waits = [...]time.Duration{
	time.Second, 5 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 8 * time.Hour,
}

// Tries is the number of attempts after which a delivery has failed.
const Tries = len(waits) + 1

// RetryAfter returns how long to wait for the next attempt after a number of failed
// attempts. It returns false if the delivery has failed for good.
func RetryAfter(failed int) (time.Duration, bool) {
	if failed < 1 || failed > len(waits) {
		return 0, false
	}
	return waits[failed-1], true
}

// Request is one attempt to deliver a message.
type Request struct {
	URL string
	// ID is the same in every attempt, so that receivers can ignore repetitions.
	ID   string
	At   time.Time // the time of the attempt
	Body []byte    // JSON
	// Secrets sign the message, each with its own signature.
	Secrets []string
}

// Problem says why an attempt got no response.
type Problem string

// The reasons for which an attempt got no response. NoProblem means that there was one.
const (
	NoProblem      Problem = ""
	TimedOut       Problem = "timeout"
	RefusedAddress Problem = "refused_address" // the host has no address to which this server may connect
	BadCertificate Problem = "certificate"
	UnknownHost    Problem = "unknown_host"
	NotConnected   Problem = "not_connected"
	NotSent        Problem = "not_sent" // the request could not be created
)

// Answer is the outcome of an attempt.
type Answer struct {
	// Status is the HTTP status of the response, 0 without a response.
	Status  int
	Problem Problem
	// Text is the beginning of the response's body, without characters that control a
	// terminal or are invisible.
	Text string
}

// Delivered reports whether the receiver accepted the message, with any status from 200 to
// 299.
func (a Answer) Delivered() bool { return a.Status >= 200 && a.Status <= 299 }
