package dmarc_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// texts is a Resolver with TXT records by their names. A name with the text "SERVFAIL" fails.
type texts map[string][]string

func (r texts) TXT(_ context.Context, name string) ([]string, error) {
	if found := r[name]; len(found) == 1 && found[0] == "SERVFAIL" {
		return nil, errBroken
	}
	return r[name], nil
}

func (r texts) Exists(context.Context, string) (bool, error) { return true, nil }

// TestDestinations has the examples of RFC 9990 section 4, and the other outcomes.
func TestDestinations(t *testing.T) {
	t.Parallel()
	const record, consent = "_dmarc.blue.example.com", "blue.example.com._report._dmarc.red.example.net"
	long := strings.Repeat("a.", 110) + "example.net"
	for name, test := range map[string]struct {
		zone texts
		want []dmarc.Destination
	}{
		"no record":  {texts{}, nil},
		"no address": {texts{record: {"v=DMARC1; p=none"}}, nil},
		"own organization": {
			texts{record: {"v=DMARC1; p=none; rua=mailto:r@example.com"}, "_dmarc.example.com": {"v=DMARC1; p=none"}},
			[]dmarc.Destination{{URI: "mailto:r@example.com", Host: "example.com", Consent: dmarc.ConsentUnneeded}},
		},
		"consent": {
			texts{record: {"v=DMARC1; p=none; rua=mailto:reports@Red.example.net!10m"}, consent: {"v=DMARC1"}},
			[]dmarc.Destination{{URI: "mailto:reports@Red.example.net", Host: "red.example.net", Consent: dmarc.ConsentGiven, Name: consent}},
		},
		"consent among other texts": {
			texts{record: {"v=DMARC1; p=none; rua=mailto:r@red.example.net"}, consent: {"hello", "p=none; v=DMARC1", "v=DMARC1;"}},
			[]dmarc.Destination{{URI: "mailto:r@red.example.net", Host: "red.example.net", Consent: dmarc.ConsentGiven, Name: consent}},
		},
		"no consent": {
			texts{record: {"v=DMARC1; p=none; rua=mailto:r@red.example.net"}, consent: {"v=spf1 -all"}},
			[]dmarc.Destination{{URI: "mailto:r@red.example.net", Host: "red.example.net", Consent: dmarc.ConsentMissing, Name: consent}},
		},
		"another address": {
			texts{record: {"v=DMARC1; p=none; rua=mailto:r@red.example.net"}, consent: {"v=DMARC1; rua=mailto:dmarc@red.example.net"}},
			[]dmarc.Destination{{URI: "mailto:r@red.example.net", Host: "red.example.net", Consent: dmarc.ConsentGiven, Name: consent, Instead: []string{"mailto:dmarc@red.example.net"}}},
		},
		"another host": {
			texts{record: {"v=DMARC1; p=none; rua=mailto:r@red.example.net"}, consent: {"v=DMARC1; rua=mailto:dmarc@victim.example"}},
			[]dmarc.Destination{{URI: "mailto:r@red.example.net", Host: "red.example.net", Consent: dmarc.ConsentMisdirected, Name: consent}},
		},
		"long name": {
			texts{record: {"v=DMARC1; p=none; rua=mailto:r@" + long}},
			[]dmarc.Destination{{URI: "mailto:r@" + long, Host: long, Consent: dmarc.ConsentImpossible}},
		},
		"two addresses": {
			texts{record: {"v=DMARC1; p=none; rua=mailto:a@blue.example.com, https://red.example.net:8443/reports"}, consent: {"v=DMARC1"}},
			[]dmarc.Destination{
				{URI: "mailto:a@blue.example.com", Host: "blue.example.com", Consent: dmarc.ConsentUnneeded},
				{URI: "https://red.example.net:8443/reports", Host: "red.example.net", Consent: dmarc.ConsentGiven, Name: consent},
			},
		},
		"record of the organization": {
			texts{"_dmarc.example.com": {"v=DMARC1; p=none; rua=mailto:r@red.example.net"}, "example.com._report._dmarc.red.example.net": {"v=DMARC1"}},
			[]dmarc.Destination{{URI: "mailto:r@red.example.net", Host: "red.example.net", Consent: dmarc.ConsentGiven, Name: "example.com._report._dmarc.red.example.net"}},
		},
	} {
		d, err := dmarc.Discover(t.Context(), test.zone, "blue.example.com")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := dmarc.Destinations(t.Context(), test.zone, d); err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, test.want)
		}
	}
}

// TestDestinationsFail checks that an answer that is not known is no missing consent, and that
// the other destinations are known all the same.
func TestDestinationsFail(t *testing.T) {
	t.Parallel()
	const given = "blue.example.com._report._dmarc.green.example.org"
	for broken, want := range map[string]dmarc.Consent{
		"_dmarc.red.example.net":                          dmarc.ConsentGiven,
		"blue.example.com._report._dmarc.red.example.net": dmarc.ConsentGiven,
		"_dmarc.example.com":                              "",
	} {
		zone := texts{"_dmarc.blue.example.com": {"v=DMARC1; p=none; rua=mailto:r@red.example.net,mailto:r@green.example.org"}, given: {"v=DMARC1"}}
		d, err := dmarc.Discover(t.Context(), zone, "blue.example.com")
		if err != nil {
			t.Fatal(err)
		}
		zone[broken] = []string{"SERVFAIL"}
		got, err := dmarc.Destinations(t.Context(), zone, d)
		if !errors.Is(err, errBroken) || len(got) != 2 || got[0].Consent != "" || got[1].Consent != want {
			t.Errorf("%s: %+v, %v", broken, got, err)
		}
	}
}

// TestDestinationsAreBounded checks that a record with many addresses causes few queries.
func TestDestinationsAreBounded(t *testing.T) {
	t.Parallel()
	var uris []string
	for i := range 100 {
		uris = append(uris, fmt.Sprintf("mailto:r@h%d.example.net", i))
	}
	zone := texts{"_dmarc.blue.example.com": {"v=DMARC1; p=none; rua=" + strings.Join(uris, ",")}}
	d, err := dmarc.Discover(t.Context(), zone, "blue.example.com")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := dmarc.Destinations(t.Context(), zone, d); err != nil || len(got) != 10 {
		t.Errorf("%d destinations, %v", len(got), err)
	}
}
