package smtpd

// Event is what is counted.
type Event string

// The events.
const (
	// Connection is an accepted connection.
	Connection Event = "connection"
	// Recipient is a reply to RCPT.
	Recipient Event = "recipient"
	// Message is the final reply to DATA or BDAT.
	Message Event = "message"
)

// Outcome says how an event ended.
type Outcome string

// The outcomes of events.
const (
	// Accepted is the outcome with a positive reply.
	Accepted Outcome = "accepted"
	// TooMany is the outcome above a limit of connections, recipients or messages.
	TooMany Outcome = "too_many"
	// Displaced is a connection that lost its place to a new one.
	Displaced Outcome = "displaced"
	// NoSuchInbox and NotOurs are refusals of the router.
	NoSuchInbox Outcome = "no_such_inbox"
	NotOurs     Outcome = "not_ours"
	// OtherOrganization is a recipient that needs a transaction of its own.
	OtherOrganization Outcome = "other_organization"
	// Failed means that Router or Intake returned an error.
	Failed Outcome = "failed"
	// BareLineEnd, TooLarge and Loop are refusals of messages by their content.
	BareLineEnd Outcome = "bare_line_end"
	TooLarge    Outcome = "too_large"
	Loop        Outcome = "loop"
	// Aborted is a message that the client did not send to its end.
	Aborted Outcome = "aborted"
)

// Outcomes returns the outcomes that an event can have.
func Outcomes(e Event) []Outcome {
	switch e {
	case Connection:
		return []Outcome{Accepted, TooMany, Displaced}
	case Recipient:
		return []Outcome{Accepted, TooMany, NoSuchInbox, NotOurs, OtherOrganization, Failed}
	}
	return []Outcome{Accepted, TooMany, Failed, BareLineEnd, TooLarge, Loop, Aborted}
}
