package clientdocument

import "errors"

// Refusal is the error when a client's metadata document is not accepted. Text is a
// sentence for the person whom the client sent to the consent page. It names what this
// person or the client's authors can fix, and no address, name or error of the server's
// network.
type Refusal struct {
	Text  string
	cause error
}

// Error returns the text.
func (r *Refusal) Error() string { return r.Text }

// Unwrap returns the internal cause, which is for the log only.
func (r *Refusal) Unwrap() error { return r.cause }

// refuse returns a Refusal with this text and without an internal cause.
func refuse(text string) error { return &Refusal{Text: text} }

// refuseFor returns a Refusal with an internal cause for the log.
func refuseFor(text string, cause error) error { return &Refusal{Text: text, cause: cause} }

// errBusy is the cause of the refusal that the function busy returns.
var errBusy = errors.New("too many documents are being fetched")

// busy returns the refusal when too many documents are being fetched. Its cause is not the
// document, so the refusal is not cached.
func busy() error {
	return refuseFor("Too many applications are being looked up at the moment. Try again in a minute.", errBusy)
}

// interruptedError returns the refusal when the caller's context ended during the fetch. It
// is not cached.
func interruptedError(cause error) error {
	return refuseFor("Looking up the application was interrupted. Try again.", cause)
}

// unreachable returns an error with the same text for an unknown host name, a forbidden
// address and a refused connection. Different texts would let a stranger explore the
// server's network.
func unreachable(cause error) error {
	return refuseFor("The application's metadata document cannot be reached over the public Internet.", cause)
}
