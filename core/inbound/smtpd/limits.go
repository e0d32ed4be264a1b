package smtpd

import (
	"cmp"
	"time"
)

// Limits are the limits of a server. A zero field has its default.
type Limits struct {
	// Connections is the maximum number of open connections. A further connection waits, and
	// displaces one whose client delivers nothing; the package comment says which. The default
	// is 256.
	Connections int
	// PerNetwork is the maximum number of open connections of one network, a /24 of IPv4 or a
	// /64 of IPv6. Further connections get 421. The default is 32, an eighth of 256.
	PerNetwork int
	// MessageBytes is the largest message, as SIZE announces it. The default is 25 MiB.
	MessageBytes int64
	// Recipients is the maximum number of accepted RCPT commands for a message. The default is
	// 100, the least that RFC 5321 section 4.5.3.1.8 allows.
	Recipients int
	// Messages is the maximum number of messages on one connection. The default is 1,000.
	Messages int
	// MessagesOfNetwork is how many messages a network may send at once, and after that in
	// 100 seconds. The default is 10,000. Connections from this machine have no such limit:
	// they come from a proxy, or from the operator.
	MessagesOfNetwork int
	// UnknownRecipients ends a connection after so many refused recipients. The default is 20.
	UnknownRecipients int
	// Tarpit is the delay of the reply to a recipient that does not exist, beginning with the
	// third on a connection. The default is a second. A negative value means no delay.
	Tarpit time.Duration
	// CommandTimeout is how long the server waits for a complete command. The default is five
	// minutes (RFC 5321 section 4.5.3.2.7).
	CommandTimeout time.Duration
	// DataTimeout is how long the server waits for the next bytes of a message. The default is
	// five minutes.
	DataTimeout time.Duration
	// MessageTimeout is the longest time in which a message must be transferred, and the longest
	// time of a connection between two accepted messages. The default is 30 minutes.
	MessageTimeout time.Duration
}

func (l Limits) withDefaults() Limits {
	return Limits{
		Connections:       cmp.Or(l.Connections, 256),
		PerNetwork:        cmp.Or(l.PerNetwork, 32),
		MessageBytes:      cmp.Or(l.MessageBytes, 25<<20),
		Recipients:        cmp.Or(l.Recipients, 100),
		Messages:          cmp.Or(l.Messages, 1000),
		MessagesOfNetwork: cmp.Or(l.MessagesOfNetwork, 10_000),
		UnknownRecipients: cmp.Or(l.UnknownRecipients, 20),
		Tarpit:            cmp.Or(l.Tarpit, time.Second),
		CommandTimeout:    cmp.Or(l.CommandTimeout, 5*time.Minute),
		DataTimeout:       cmp.Or(l.DataTimeout, 5*time.Minute),
		MessageTimeout:    cmp.Or(l.MessageTimeout, 30*time.Minute),
	}
}

// The limits that are not configurable.
const (
	answerTimeout    = time.Minute      // for writing replies to a client that does not read
	handshakeTimeout = 30 * time.Second // for the TLS handshake
	// commitTime is how long Intake may take after the transfer. It is shorter than the ten
	// minutes that a client waits for the reply (RFC 5321 section 4.5.3.2.6).
	commitTime = 5 * time.Minute

	maxLine     = 2000 // of a command, with CR LF; RFC 5321 section 4.5.3.1.4 requires 512
	maxErrors   = 10   // unknown commands and syntax errors on a connection
	maxCommands = 1000 // commands between two accepted messages
	maxReceived = 100  // Received fields of a message; RFC 5321 section 6.3 asks for at least 100
	freeUnknown = 2    // refused recipients without Tarpit

	// drainFactor bounds how much of a refused message is read, in multiples of
	// Limits.MessageBytes. After that the server closes the connection.
	drainFactor = 4
)
