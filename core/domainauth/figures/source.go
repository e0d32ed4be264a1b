package figures

// Decision is what a person decided about a source.
type Decision string

// The decisions. The empty Decision counts as Unreviewed.
const (
	// Confirmed sources send for the domain: the organization wants their mail delivered.
	Confirmed Decision = "confirmed"
	// Rejected sources must not send for the domain.
	Rejected Decision = "rejected"
	// Unreviewed sources are undecided.
	Unreviewed Decision = "unreviewed"
)

// Source is what is known about one source now. Without a decision it is Unreviewed, without
// a classification [Unknown]. Past figures are read with the present
// decision and classification.
type Source struct {
	ID             string
	Decision       Decision
	Classification Classification
}

// Sends reports whether the source is known to send mail of its own for the domain: it is
// confirmed, or it is the organization's own or an authorized one and not rejected.
// Forwarders are never such sources.
func (s Source) Sends() bool {
	switch {
	case s.Classification == Forwarder || s.Decision == Rejected:
		return false
	case s.Decision == Confirmed:
		return true
	default:
		return s.Classification == Own || s.Classification == Authorised
	}
}

// withDefaults returns the source with Unreviewed and Unknown in place of an empty decision and
// an empty classification.
func (s Source) withDefaults() Source {
	if s.Decision == "" {
		s.Decision = Unreviewed
	}
	if s.Classification == "" {
		s.Classification = Unknown
	}
	return s
}

// Registry has the sources by id.
type Registry map[string]Source

// Register returns the registry of sources. Of several sources with one id, the last counts.
func Register(all []Source) Registry {
	registry := make(Registry, len(all))
	for _, s := range all {
		registry[s.ID] = s.withDefaults()
	}
	return registry
}

// Source returns the source with an id. An id that is not registered is an unreviewed source
// of unknown classification.
func (r Registry) Source(id string) Source {
	if s, ok := r[id]; ok {
		return s
	}
	return Source{ID: id}.withDefaults()
}
