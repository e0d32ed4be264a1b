package figures

// Classification is what a source is to the domain.
type Classification string

// The classifications of sources.
const (
	// Own means the domain's own servers and keys, and the sending account of the
	// organization.
	Own Classification = "own"
	// Authorised means that the owner authorized the sender, by a key or in the SPF record.
	Authorised Classification = "authorised"
	// Forwarder means a host that passes on mail of other senders.
	Forwarder Classification = "forwarder"
	// Unknown means a sender without authorization of which something is known.
	Unknown Classification = "unknown"
	// Spoofing means an address about which nothing is known, and which the SPF record of the
	// domain excludes.
	Spoofing Classification = "spoofing"
)

// Merge returns the classification of a source whose rows have the classifications c and d:
// the first of Own, Authorised, Forwarder, Unknown, Spoofing. The empty one gives way.
func (c Classification) Merge(d Classification) Classification {
	for _, first := range [...]Classification{Own, Authorised, Forwarder, Unknown, Spoofing} {
		if c == first || d == first {
			return first
		}
	}
	return ""
}
