package sources

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// kind says what a known sender does with mail.
type kind string

const (
	// service sends mail for its customers and does not forward.
	service kind = "service"
	// mailbox has mailboxes of people, who send and forward.
	mailbox kind = "mailbox"
	// gateway filters mail on its way out of or into organizations.
	gateway kind = "gateway"
	// relay forwards mail or distributes it to lists.
	relay kind = "relay"
	// host rents servers, so its names do not say who sends.
	host kind = "host"
)

// kinds is the order in which known signers of one message are preferred.
var kinds = []kind{service, mailbox, gateway, relay, host}

// sender is an entry of the table of known senders.
type sender struct {
	provider string // machine name
	domain   string // the domain in keys
	kind     kind
	name     string
	// dkim has signing and bounce domains, spf the names of SPF records, ptr the domains of
	// reverse names, selector the selectors that only this sender asks customers to publish;
	// one that ends in * is the beginning of selectors.
	dkim, spf, ptr, selector []string
	asn                      []uint32
	sources                  []string // where the facts are documented

	key, forwarderKey, forwarderName string
}

// table finds known senders by what identifies them.
type table struct {
	senders   []*sender
	domains   map[string]*sender // signing and bounce domains
	records   map[string]*sender // names of SPF records
	reverse   map[string]*sender // domains of reverse names
	selectors map[string]*sender // without those that end in *
	systems   map[uint32]*sender
	beginning []beginning
}

// beginning is the beginning of selectors of a sender.
type beginning struct {
	text   string
	sender *sender
}

//go:embed senders.txt
var sendersText string

// known returns the table of known senders, which is not changed. It is read when it is first
// needed, because most commands do not need it.
var known = sync.OnceValue(func() *table { return mustReadTable(sendersText) })

func mustReadTable(text string) *table {
	t, err := readTable(text)
	if err != nil {
		panic("sources: senders.txt: " + err.Error())
	}
	return t
}

// readTable reads a table. A sender is a line "machine_name domain kind Name for people" below
// comment lines with the sources of the facts, and followed by indented lines that begin with
// dkim, spf, ptr, asn or selector. The domain identifies the sender in each of these ways. No
// two senders may have the same machine name, domain or identifying value.
func readTable(text string) (*table, error) {
	t := &table{
		domains: map[string]*sender{}, records: map[string]*sender{}, reverse: map[string]*sender{},
		selectors: map[string]*sender{}, systems: map[uint32]*sender{},
	}
	var current *sender
	var comments []string
	for i, line := range strings.Split(text, "\n") {
		var err error
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
			comments = nil
		case fields[0] == "#":
			comments = append(comments, fields[1:]...)
		case line[0] == '\t' && current != nil:
			err = current.add(fields[0], fields[1:])
		case len(fields) >= 4 && line[0] != '\t':
			current = &sender{provider: fields[0], domain: fields[1], kind: kind(fields[2]), name: strings.Join(fields[3:], " "), sources: comments}
			t.senders = append(t.senders, current)
			comments = nil
		default:
			err = fmt.Errorf("the line is not an entry")
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
	}
	for _, s := range t.senders {
		if err := t.index(s); err != nil {
			return nil, fmt.Errorf("%s: %w", s.provider, err)
		}
	}
	return t, nil
}

func (s *sender) add(what string, values []string) error {
	switch what {
	case "dkim":
		s.dkim = append(s.dkim, values...)
	case "spf":
		s.spf = append(s.spf, values...)
	case "ptr":
		s.ptr = append(s.ptr, values...)
	case "selector":
		s.selector = append(s.selector, values...)
	case "asn":
		for _, value := range values {
			n, err := strconv.ParseUint(value, 10, 32)
			if err != nil {
				return err
			}
			s.asn = append(s.asn, uint32(n))
		}
	default:
		return fmt.Errorf("%q is not a way to identify a sender", what)
	}
	return nil
}

func (t *table) index(s *sender) error {
	if !slices.Contains(kinds, s.kind) {
		return fmt.Errorf("%q is not a kind", s.kind)
	}
	s.key, s.forwarderKey, s.forwarderName = senderKey+s.domain, forwarderKey+s.domain, forwardedBy+s.name
	for _, part := range []struct {
		values []string
		index  map[string]*sender
	}{{s.dkim, t.domains}, {s.spf, t.records}, {s.ptr, t.reverse}} {
		for _, value := range append([]string{s.domain}, part.values...) {
			if normal(value) != value {
				return fmt.Errorf("%q is not a domain name in lower case", value)
			}
			if value == s.domain && part.index[value] == s {
				continue // listed again, as the name of a record
			}
			if err := put(part.index, value, s); err != nil {
				return err
			}
		}
	}
	for _, value := range s.selector {
		if err := put(t.selectors, value, s); err != nil {
			return err
		}
		if text, found := strings.CutSuffix(value, "*"); found {
			t.beginning = append(t.beginning, beginning{text, s})
		}
	}
	for _, value := range s.asn {
		if err := put(t.systems, value, s); err != nil {
			return err
		}
	}
	return nil
}

func put[K comparable](index map[K]*sender, value K, s *sender) error {
	if other := index[value]; other != nil {
		return fmt.Errorf("%v also identifies %s", value, other.provider)
	}
	index[value] = s
	return nil
}

// above returns the entry for the name, or for the nearest name above it.
func above(index map[string]*sender, name string) *sender {
	for name != "" {
		if s := index[name]; s != nil {
			return s
		}
		_, name, _ = strings.Cut(name, ".")
	}
	return nil
}

// ofPath returns the known sender that publishes the last of the records on a path, or nil.
func (t *table) ofPath(path []string) *sender {
	for _, record := range slices.Backward(path) {
		if s := above(t.records, normal(record)); s != nil {
			return s
		}
	}
	return nil
}

// ofSelector returns the sender that asks its customers to publish a selector.
func (t *table) ofSelector(selector string) *sender {
	if s := t.selectors[selector]; s != nil {
		return s
	}
	for _, b := range t.beginning {
		if strings.HasPrefix(selector, b.text) {
			return b.sender
		}
	}
	return nil
}
