package sources

import "strings"

// Identifier decides about the rows of one domain. It is safe for concurrent use.
type Identifier struct {
	name, organization string
	selectors          []string
	spf                *networks
	includes           []party // for each network of the SPF record, whose it is
	excludes           bool    // whether the SPF record is known to exclude other addresses
	lists              bool    // whether the SPF record is known and does not pass for all addresses
	expanded           bool    // whether the SPF record is known
	senders            *SenderNetworks
	own                Identity
}

// New returns an Identifier for a domain. senders has the networks of known senders; nil means
// that they are not known.
func New(d Domain, senders *SenderNetworks) *Identifier {
	i := &Identifier{name: normal(d.Name), organization: normal(d.Organization), senders: senders}
	if !within(i.name, i.organization) {
		i.organization = i.name
	}
	if i.name == "" {
		i.name = d.Name
	}
	for _, selector := range d.Selectors {
		i.selectors = append(i.selectors, strings.ToLower(strings.TrimSuffix(strings.TrimSpace(selector), ".")))
	}
	if i.senders == nil {
		i.senders = NewSenderNetworks(nil)
	}
	i.spf = newNetworks(d.SPF.Networks)
	for _, n := range i.spf.listed {
		i.includes = append(i.includes, i.ofPath(n.Path))
	}
	i.expanded = d.SPF.All != ""
	i.lists = i.expanded && d.SPF.All != Pass
	i.excludes = d.SPF.All == Fail || d.SPF.All == SoftFail
	i.own = Identity{Key: "own", Name: "Own mail of " + i.name, Classification: Own}
	return i
}

// ofPath returns the party to which the owner of the domain delegated a network: the last known
// sender on the path of records, otherwise the first record of another organization. The last
// one operates the servers, also when the owner includes the record of its customer.
func (i *Identifier) ofPath(path []string) party {
	if s := known().ofPath(path); s != nil {
		return ofSender(s)
	}
	for _, record := range path {
		if name := normal(record); name != "" && !within(name, i.organization) {
			return known().ofRecord(name)
		}
	}
	return party{}
}

// Identify returns the source of a row. It does not depend on the order of results, on the
// case of letters, or on results other than "pass" of signatures.
func (i *Identifier) Identify(e Evidence) Identity {
	var p proofs
	i.readSPF(&e, &p)
	o := i.operator(&e, &p)
	i.readDKIM(&e, &p, o.party)
	switch {
	case p.aligned || o.authorised && !p.foreign:
		return i.direct(&p, &o)
	case p.key:
		return i.keyed(&p, &o)
	default:
		return i.unproven(&p, &o)
	}
}

// direct returns the source of mail from an address that may send for the domain: SPF passed
// for the domain, or the record has the address and the envelope sender is of the domain.
func (i *Identifier) direct(p *proofs, o *operator) Identity {
	if p.ownSelector || o.own {
		return i.own
	}
	if q := refine(o.party, p.hinted); q.found() {
		return named(q, Authorised)
	}
	return unnamed(senderKey, p, o, Authorised)
}

// refine returns the sender of mail with a key that is known to be of the sender hinted. A
// sender may send through a service, so the key says more than the address of a service.
func refine(operates party, hinted *sender) party {
	if hinted != nil && (!operates.found() || operates.kind() == service) {
		return ofSender(hinted)
	}
	return operates
}

// keyed returns the source of mail with a valid signature of the domain from an address that
// SPF does not confirm. It was either sent by a sender that has a key of the domain, or
// forwarded without changes.
func (i *Identifier) keyed(p *proofs, o *operator) Identity {
	switch {
	case o.own:
		return i.own
	case o.party.kind() == service:
		if p.ownSelector {
			return i.own
		}
		return named(refine(o.party, p.hinted), Authorised)
	case o.party.listed():
		if p.hinted == o.party.sender {
			// The provider has its own key, so it is not forwarding.
			if p.ownSelector {
				return i.own
			}
			return named(o.party, Authorised)
		}
		return forwards(o.party)
	case o.party.found():
		switch {
		case i.hasForwarded(p, o):
			return forwards(o.party)
		case o.authorised:
			return named(o.party, Authorised)
		}
		// The mail may also be a signed message that the party sends again.
		return named(o.party, Unknown)
	case p.relayed || i.lists || p.failed || p.foreign:
		return unnamed(forwarderKey, p, o, Forwarder)
	case p.ownSelector:
		return i.own
	case p.hinted != nil:
		return named(ofSender(p.hinted), Authorised)
	default:
		return unnamed(senderKey, p, o, Unknown)
	}
}

// hasForwarded reports whether a party that is not in the table forwarded mail with a valid
// signature of the domain, instead of sending it with a key of its own.
func (i *Identifier) hasForwarded(p *proofs, o *operator) bool {
	switch {
	case p.relayed:
		return true
	case p.ownSelector || p.hinted != nil:
		return true // the key is another sender's
	case o.authorised || p.signed || len(i.selectors) > 0:
		return false
	default:
		return i.lists || p.failed || p.foreign
	}
}

// unproven returns the source of mail for which the domain has no proof.
func (i *Identifier) unproven(p *proofs, o *operator) Identity {
	switch kind := o.party.kind(); {
	case o.own:
		return i.own
	case p.relayed && kind != service:
		if o.party.found() {
			return forwards(o.party)
		}
		return unnamed(forwarderKey, p, o, Forwarder)
	case (kind == gateway || kind == relay) && !o.authorised:
		return forwards(o.party)
	case p.provider.found() && p.provider != o.party && o.party.found() && !o.weak && kind != service:
		// The provider signed the mail and another party passed it on.
		return forwards(o.party)
	}
	q := o.party
	if p.signer.found() {
		q = p.signer
	} else if p.provider.found() {
		q = p.provider
	}
	switch {
	case q.found() && q == o.party && o.authorised:
		return named(q, Authorised)
	case q.found():
		return named(q, Unknown)
	case o.landlord == "" && (i.excludes || !i.expanded && p.excluded):
		return unnamed(networkKey, p, o, Spoofing)
	default:
		return unnamed(networkKey, p, o, Unknown)
	}
}

// The beginnings of keys.
const (
	senderKey    = "sender/"
	forwarderKey = "forwarder/"
	networkKey   = "net/"
)

func named(p party, c Classification) Identity {
	if p.sender != nil {
		return Identity{Key: p.sender.key, Name: p.sender.name, Provider: p.sender.provider, Classification: c}
	}
	return Identity{Key: senderKey + p.domain, Name: p.domain, Classification: c}
}

func forwards(p party) Identity {
	if p.sender != nil {
		return Identity{Key: p.sender.forwarderKey, Name: p.sender.forwarderName, Provider: p.sender.provider, Classification: Forwarder}
	}
	return Identity{Key: forwarderKey + p.domain, Name: forwardedBy + p.domain, Classification: Forwarder}
}

const forwardedBy = "Forwarded by "

// unnamed returns a source that is known only by the network of its address.
func unnamed(key string, p *proofs, o *operator, c Classification) Identity {
	text := network(p.ip)
	name := text
	if !p.ip.IsValid() {
		name = "an address that was not reported"
	}
	if o.landlord != "" {
		name += " at " + o.landlord
	}
	if key == forwarderKey {
		name = forwardedBy + name
	}
	return Identity{Key: key + text, Name: name, Classification: c}
}
