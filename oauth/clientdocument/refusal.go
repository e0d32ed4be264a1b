package clientdocument

import "errors"

// Refusal is the error for a client's document that is not accepted. Text is a sentence
// for the person whom the client sent here. It names what they or the client's authors
// can fix. It contains no address, name or error of our network.
type Refusal struct {
	Text  string
	cause error
}

// Error returns the text.
func (r *Refusal) Error() string { return r.Text }

// Unwrap returns the cause, which is for the log.
func (r *Refusal) Unwrap() error { return r.cause }

// refuse returns a Refusal without a cause.
func refuse(text string) error { return &Refusal{Text: text} }

// refuseFor returns a Refusal with a cause for the log.
func refuseFor(text string, cause error) error { return &Refusal{Text: text, cause: cause} }

// errBusy and errInterrupted are not about a document, so they are not cached.
var errBusy = errors.New("too many documents are being fetched")

// busy returns the refusal when too many fetches wait for a slot. It is not cached.
func busy() error {
	return refuseFor("Too many applications are being looked up at the moment. Try again in a minute.", errBusy)
}

// interruptedError returns the refusal when ctx ended during the fetch. It is not cached.
func interruptedError(cause error) error {
	return refuseFor("Looking up the application was interrupted. Try again.", cause)
}

// unreachable returns the same text for an unknown name, a forbidden address and a
// server that does not answer. Different texts would let a stranger explore our
// network.
func unreachable(cause error) error {
	return refuseFor("The application's metadata document cannot be reached over the public Internet.", cause)
}
