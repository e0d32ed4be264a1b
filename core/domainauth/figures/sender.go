package figures

// Decision is what a person decided about a sender.
type Decision string

// The decisions. The empty Decision counts as Unreviewed.
const (
	// Confirmed senders send for the domain: the organization wants their mail delivered.
	Confirmed Decision = "confirmed"
	// Rejected senders must not send for the domain.
	Rejected Decision = "rejected"
	// Unreviewed senders are undecided.
	Unreviewed Decision = "unreviewed"
)

// Classification is what the service concludes about a sender from the reports and DNS.
type Classification string

// The classifications. The empty Classification counts as Unknown.
const (
	// Own is the sending account of the organization.
	Own Classification = "own"
	// Authorised is a service that the domain's DNS authorizes to send.
	Authorised Classification = "authorised"
	// Forwarder passes on mail of other senders and sends none of its own.
	Forwarder Classification = "forwarder"
	// Spoofing is a sender that imitates the domain.
	Spoofing Classification = "spoofing"
	// Unknown is a sender for which there is no evidence.
	Unknown Classification = "unknown"
)

// Sender is what is known about one sender now. Past figures are read with the present
// decision and classification.
type Sender struct {
	ID             string
	Decision       Decision
	Classification Classification
}

// Sends reports whether the sender is known to send mail of its own for the domain: it is
// confirmed, or it is the organization's own or an authorized one and not rejected.
// Forwarders are never such senders.
func (s Sender) Sends() bool {
	switch {
	case s.Classification == Forwarder || s.Decision == Rejected:
		return false
	case s.Decision == Confirmed:
		return true
	default:
		return s.Classification == Own || s.Classification == Authorised
	}
}

// withDefaults returns the sender with Unreviewed and Unknown in place of an empty decision and
// an empty classification.
func (s Sender) withDefaults() Sender {
	if s.Decision == "" {
		s.Decision = Unreviewed
	}
	if s.Classification == "" {
		s.Classification = Unknown
	}
	return s
}

// Registry has the senders by id.
type Registry map[string]Sender

// Register returns the registry of senders. Of several senders with one id, the last counts.
func Register(senders []Sender) Registry {
	registry := make(Registry, len(senders))
	for _, s := range senders {
		registry[s.ID] = s.withDefaults()
	}
	return registry
}

// Sender returns the sender with an id. An id that is not registered is an unreviewed sender
// of unknown classification.
func (r Registry) Sender(id string) Sender {
	if s, ok := r[id]; ok {
		return s
	}
	return Sender{ID: id}.withDefaults()
}
