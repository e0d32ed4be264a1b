package dmarc

import (
	"context"
	"fmt"
	"net/url"
	"strings"
)

// maxDestinations bounds the report addresses of a record that are examined. Receivers need to
// send to two only (section 4.8).
const maxDestinations = 10

// Consent says whether the owner of a report address agrees to receive the reports of a domain.
type Consent string

// The states of consent.
const (
	// ConsentUnneeded: the address belongs to the same organization as the domain.
	ConsentUnneeded Consent = "unneeded"
	// ConsentGiven: a record of the destination agrees.
	ConsentGiven Consent = "given"
	// ConsentMissing: no record agrees, so receivers send no reports there.
	ConsentMissing Consent = "missing"
	// ConsentMisdirected: the record that agrees names an address at another host, which receivers
	// must not use, nor the first one.
	ConsentMisdirected Consent = "misdirected"
	// ConsentImpossible: the name of the record would be longer than DNS allows.
	ConsentImpossible Consent = "impossible"
)

// Destination is an address of the tag rua of a record, and whether reports go there.
type Destination struct {
	// URI is as written in the record.
	URI string
	// Host is the domain of the mail address, or the host of another URI, in the form of Name.
	Host    string
	Consent Consent
	// Name is the name of the TXT record with which the host agrees, without a final dot. It is
	// empty if none is needed or possible.
	Name string
	// Instead has the addresses to which receivers send in place of URI, because the host asks
	// for that.
	Instead []string
}

// Destinations returns where receivers send the aggregate reports about a domain, by RFC 9990
// section 4: a destination of another organization must agree, otherwise anyone could direct
// reports to it. At most ten addresses are examined. It returns none if there is no record. If
// a query fails, it returns the error and all destinations; those about which it is not known
// have an empty Consent.
func Destinations(ctx context.Context, r Resolver, d Discovery) ([]Destination, error) {
	if d.Domain == "" {
		return nil, nil
	}
	own, unknown := Walk(ctx, r, d.Domain)
	failure := unknown
	var all []Destination
	for _, uri := range d.Record.AggregateURIs[:min(len(d.Record.AggregateURIs), maxDestinations)] {
		destination := Destination{URI: uri, Host: hostOf(uri)}
		err := unknown
		if err == nil {
			err = destination.ask(ctx, r, d.Domain, own.OrganizationalDomain())
		}
		if err != nil {
			failure, destination.Consent = err, ""
		}
		all = append(all, destination)
	}
	return all, failure
}

// ask finds the consent of a destination to reports about the record of a domain.
func (d *Destination) ask(ctx context.Context, r Resolver, domain, organization string) error {
	d.Consent = ConsentMissing
	if d.Host == "" {
		return nil
	}
	theirs, err := Walk(ctx, r, d.Host)
	if err != nil {
		return err
	}
	if theirs.OrganizationalDomain() == organization {
		d.Consent = ConsentUnneeded
		return nil
	}
	name := domain + "._report._dmarc." + d.Host
	if len(name) > maxName {
		d.Consent = ConsentImpossible
		return nil
	}
	d.Name = name
	texts, err := r.TXT(ctx, name)
	if err != nil {
		return fmt.Errorf("dmarc: look up the consent to reports: %w", err)
	}
	for _, text := range texts {
		record, err := Parse(text)
		if err != nil {
			continue
		}
		d.Consent = ConsentGiven
		if d.Instead == nil {
			d.Instead = record.AggregateURIs
		}
	}
	for _, uri := range d.Instead {
		if hostOf(uri) != d.Host {
			d.Consent, d.Instead = ConsentMisdirected, nil
			break
		}
	}
	return nil
}

// hostOf returns the domain of a report URI in the form of Name, "" if it has none.
func hostOf(uri string) string {
	parsed, err := url.Parse(uri)
	if err != nil {
		return ""
	}
	host := parsed.Hostname()
	if parsed.Scheme == "mailto" {
		address, _, _ := strings.Cut(parsed.Opaque, "?")
		host = address[strings.LastIndexByte(address, '@')+1:]
	}
	name, _ := Name(host)
	return name
}
