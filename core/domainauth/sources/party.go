package sources

// party is a company or service that evidence names. The zero party means that it does not
// name one.
type party struct {
	domain string
	sender *sender // nil if the party is not in the table
}

func ofSender(s *sender) party {
	if s == nil {
		return party{}
	}
	return party{domain: s.domain, sender: s}
}

func (p party) found() bool { return p.domain != "" }

// kind returns what the party does with mail, or "" if that is not known.
func (p party) kind() kind {
	if p.sender == nil || p.sender.kind == host {
		return ""
	}
	return p.sender.kind
}

// listed reports whether the table says what the party does with mail.
func (p party) listed() bool { return p.kind() != "" }

// provider returns the machine name of a known sender, or "".
func (p party) provider() string {
	if p.sender == nil {
		return ""
	}
	return p.sender.provider
}

// ofDomain returns the party with a domain for which DKIM or SPF passed.
func (t *table) ofDomain(name string) party {
	if name == "" {
		return party{}
	}
	if s := above(t.domains, name); s != nil {
		return ofSender(s)
	}
	return party{domain: base(name)}
}

// ofRecord returns the party that publishes an SPF record for its customers.
func (t *table) ofRecord(name string) party {
	if s := above(t.records, name); s != nil {
		return ofSender(s)
	}
	return t.ofDomain(name)
}

// operator is what is known of who operates an address.
type operator struct {
	party party
	// own means that the address is the owner's: the SPF record of the domain has it without
	// an include, or its confirmed name belongs to the domain.
	own bool
	// authorised means that the SPF record of the domain has the address.
	authorised bool
	// weak means that only SPF named the party: it authorized the operator of the address and
	// may be its customer.
	weak bool
	// landlord is the name of the company that rents the server to the sender, or empty.
	landlord string
}

// operator returns who operates the address of a row, by the first evidence that says so.
// Evidence for known senders comes first, because it does not depend on the record of the
// domain: services that shorten SPF records replace the names in it by their own.
func (i *Identifier) operator(e *Evidence, p *proofs) operator {
	var o operator
	var delegated, named party // by the SPF record of the domain, by the reverse name
	if at, found := i.spf.find(p.ip); found {
		o.authorised, delegated = true, i.includes[at]
	}
	if o.party = delegated; !o.party.listed() {
		if o.party = ofSender(i.senders.find(p.ip)); !o.party.found() {
			named = i.readName(e, p, &o)
			o.party = named
		}
	}
	if !o.party.listed() {
		o.party = ofSender(known().systems[e.ASN])
	}
	switch {
	case o.own || o.party.found():
	case delegated.found():
		o.party = delegated
	case o.authorised:
		// The owner named the address itself. A hosting company that gave it a name is not
		// the sender.
		o.own = true
	case named.found():
		o.party = named
	case p.envelope != "":
		o.party = known().ofDomain(p.envelope)
		o.weak = !o.party.listed()
	}
	return o
}

// readName returns the party that the confirmed reverse name of the address names. It sets own
// and landlord of o.
func (i *Identifier) readName(e *Evidence, p *proofs, o *operator) party {
	name := normal(e.PTR)
	switch s := above(known().reverse, name); {
	case name == "":
	case within(name, i.organization):
		o.own = true
	case s != nil && s.kind == host:
		o.landlord = s.name
	case s != nil:
		return ofSender(s)
	case !containsAddress(name, p.ip):
		return party{domain: base(name)}
	}
	return party{}
}
