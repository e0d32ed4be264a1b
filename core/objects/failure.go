package objects

import "fmt"

// Cause says why a bucket could not serve a call, as far as it is known.
type Cause string

// The causes. OtherCause is any that has no name here.
const (
	NotAllowed     Cause = "not_allowed"     // the operator allows no connection to this address or port
	UnknownHost    Cause = "unknown_host"    // the host name of the endpoint does not resolve
	BadCertificate Cause = "bad_certificate" // the certificate of the endpoint is not trusted
	TimedOut       Cause = "timed_out"
	NotConnected   Cause = "not_connected" // any other failure before there was an answer
	BadKey         Cause = "bad_key"       // the access key id is unknown, or the secret is wrong
	Denied         Cause = "denied"        // the access key is known and may not do this
	NoBucket       Cause = "no_bucket"
	OtherRegion    Cause = "other_region" // the bucket is in another region
	WrongClock     Cause = "wrong_clock"  // the clocks of the two servers differ too much
	OtherCause     Cause = "other"
)

// Failure is the error of a call that a bucket did not serve. It is an ErrUnavailable.
type Failure struct {
	Cause Cause
	// Code is the error code of the answer, such as AccessDenied, or "". It comes from the
	// server of the bucket and has letters and digits only.
	Code string
	// Status is the HTTP status of the answer; 0 if there was none.
	Status int
	// Err is the error with all details. It is for the log.
	Err error
}

// Error returns the text for the log.
func (f *Failure) Error() string {
	return fmt.Sprintf("%v: %s: %v", ErrUnavailable, f.Cause, f.Err)
}

// Unwrap returns ErrUnavailable and the error with the details.
func (f *Failure) Unwrap() []error { return []error{ErrUnavailable, f.Err} }
