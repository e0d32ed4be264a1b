package clientdocument

import "errors"

// Refusal says why a client's document is not accepted. Text is a sentence for
// the person who was sent here by the client: it tells what they or the client's
// authors can mend, and no address, name or error of the network we stand in.
type Refusal struct {
	Text  string
	cause error
}

// Error is the text alone.
func (r *Refusal) Error() string { return r.Text }

// Unwrap gives the cause to errors.Is; it is for the log.
func (r *Refusal) Unwrap() error { return r.cause }

func refuse(text string) error { return &Refusal{Text: text} }

func refuseFor(text string, cause error) error { return &Refusal{Text: text, cause: cause} }

// errBusy and errInterrupted say nothing about a document, so they are not
// remembered.
var errBusy = errors.New("too many documents are being fetched")

func busy() error {
	return refuseFor("Too many applications are being looked up at the moment. Try again in a minute.", errBusy)
}

func interrupted(cause error) error {
	return refuseFor("Looking up the application was interrupted. Try again.", cause)
}

// unreachable is one text for a name that is unknown, an address that may not be
// fetched from and a server that does not answer: a stranger who could tell them
// apart would learn what stands in our network.
func unreachable(cause error) error {
	return refuseFor("The application's metadata document cannot be reached over the public Internet.", cause)
}
