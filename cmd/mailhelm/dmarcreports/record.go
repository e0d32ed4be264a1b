package dmarcreports

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core/channels/resolver"
	"github.com/mailhelm/mailhelm/core/domainauth/readiness"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
	"github.com/mailhelm/mailhelm/core/mailauth/verify"
)

const (
	// recordTime bounds all queries of `mailhelm dmarc record`, and maxQueries their number.
	recordTime = 30 * time.Second
	maxQueries = 150
)

// Record is `mailhelm dmarc record`.
type Record struct {
	Domain    string   `arg:"" help:"Domain of addresses, such as example.com."`
	DNSServer []string `name:"dns-server" help:"Name server to ask, as IP address with port. May be repeated. Default: those of the system." placeholder:"HOST:PORT"`
	JSON      bool     `help:"Print one JSON object."`
}

// Help returns the text that --help shows below the summary.
func (Record) Help() string {
	return `Asks DNS for the DMARC record that applies to a domain (RFC 9989), and says what it asks receivers to do with mail that fails, for the domain and for its subdomains. It lists the addresses that aggregate reports go to. An address of another organization gets reports only if that organization agrees by a record of its own; a missing one is the usual reason why no reports come.

Nothing is changed. The exit status is 0 when a record applies to the domain and reports can reach every address it names. It is 1 when there is no record, when an address cannot get reports, and when DNS does not answer.

Examples:

    mailhelm dmarc record example.com
    mailhelm dmarc record example.com --dns-server 192.0.2.53:53 --json`
}

// Validate refuses name servers that are no addresses: a name would have to be looked up first.
func (r Record) Validate() error {
	for _, server := range r.DNSServer {
		if _, err := netip.ParseAddrPort(server); err != nil {
			return fmt.Errorf("--dns-server %q: must be an IP address with a port such as 192.0.2.1:53", server)
		}
	}
	return nil
}

// printedRecord is the object that `mailhelm dmarc record --json` prints. Scripts rely on its
// members.
type printedRecord struct {
	Domain string `json:"domain"`
	// FoundAt is the domain whose record applies, and Record the text of it; both are "" without one.
	FoundAt string `json:"found_at"`
	Record  string `json:"record"`
	// Policy and SubdomainPolicy are what receivers are asked to do now; "" if DMARC does not apply.
	Policy          string               `json:"policy"`
	SubdomainPolicy string               `json:"subdomain_policy"`
	Testing         bool                 `json:"testing"`
	InvalidTags     []string             `json:"invalid_tags"`
	Destinations    []printedDestination `json:"destinations"`
}

type printedDestination struct {
	URI     string        `json:"uri"`
	Consent dmarc.Consent `json:"consent"`
	// ConsentRecord is the name of the TXT record with the consent, "" if none is needed.
	ConsentRecord string   `json:"consent_record"`
	Instead       []string `json:"instead"`
}

// Run asks DNS and prints what it says.
func (r *Record) Run(p *cli.Program) error {
	ctx, cancel := context.WithTimeout(p.Ctx, recordTime)
	defer cancel()
	dns := r.resolver()
	found, err := dmarc.Discover(ctx, dns, r.Domain)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Domain, err)
	}
	destinations, err := dmarc.Destinations(ctx, dns, found)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Domain, err)
	}
	printed := recordOf(found, destinations)
	if r.JSON {
		err = p.PrintJSON(printed)
	} else {
		err = printed.print(p)
	}
	if err == nil && !printed.works() {
		return cli.ErrReported
	}
	return err
}

func (r *Record) resolver() dmarc.Resolver {
	existence := resolver.System()
	if len(r.DNSServer) > 0 {
		existence = &resolver.Resolver{Servers: r.DNSServer}
	}
	return verify.Records(resolver.Through(r.DNSServer...), existence, maxQueries)
}

func recordOf(d dmarc.Discovery, destinations []dmarc.Destination) printedRecord {
	handling := readiness.HandlingOf(d)
	r := printedRecord{
		Policy: string(handling.Domain), SubdomainPolicy: string(handling.Subdomains),
		Domain: d.Author, FoundAt: d.Domain, Record: d.Record.Text, Testing: d.Record.Testing, InvalidTags: append([]string{}, d.Record.Invalid...),
		Destinations: []printedDestination{},
	}
	for _, one := range destinations {
		r.Destinations = append(r.Destinations, printedDestination{one.URI, one.Consent, one.Name, append([]string{}, one.Instead...)})
	}
	return r
}

// works reports whether a record applies and all its report addresses can get reports.
func (r printedRecord) works() bool {
	for _, d := range r.Destinations {
		if d.Consent != dmarc.ConsentUnneeded && d.Consent != dmarc.ConsentGiven {
			return false
		}
	}
	return r.Policy != ""
}

// print prints the record for a person.
func (r printedRecord) print(p *cli.Program) error {
	if r.FoundAt == "" {
		_, err := fmt.Fprintf(p.Stdout, "%s has no DMARC record. Begin with this TXT record at _dmarc.%s, which changes nothing for mail and asks for reports:\n\n    v=DMARC1; p=none; rua=mailto:ADDRESS\n", r.Domain, r.Domain)
		return err
	}
	rows := [][]string{{"domain", r.Domain}, {"found at", "_dmarc." + r.FoundAt}, {"record", safe(r.Record)}}
	if r.Policy == "" {
		rows = append(rows, []string{"asks for", "nothing: the record has no valid policy, so receivers ignore it"})
	} else {
		rows = append(rows, []string{"asks for", asked(r.Policy)}, []string{"subdomains", asked(r.SubdomainPolicy)})
	}
	if r.Testing {
		rows = append(rows, []string{"testing", "t=y: receivers apply the policy one step below the published one"})
	}
	if len(r.InvalidTags) > 0 {
		rows = append(rows, []string{"ignored", "tags with mistakes: " + strings.Join(r.InvalidTags, ", ")})
	}
	if len(r.Destinations) == 0 {
		rows = append(rows, []string{"reports", "none: the record has no rua, so receivers send no aggregate reports"})
	}
	for _, d := range r.Destinations {
		rows = append(rows, []string{"reports to", safe(d.URI) + ": " + d.explain()})
	}
	return p.PrintTable("", rows)
}

// asked says what a policy asks receivers to do.
func asked(policy string) string {
	switch dmarc.Policy(policy) {
	case dmarc.Quarantine:
		return "quarantine: mail that fails goes to the spam folder"
	case dmarc.Reject:
		return "reject: mail that fails is refused"
	default:
		return "none: mail that fails is delivered as if there were no DMARC"
	}
}

// explain says whether reports go to a destination.
func (d printedDestination) explain() string {
	switch d.Consent {
	case dmarc.ConsentUnneeded:
		return "of the same organization"
	case dmarc.ConsentGiven:
		if len(d.Instead) > 0 {
			return "agreed by " + d.ConsentRecord + ", which sends them to " + safe(strings.Join(d.Instead, ", "))
		}
		return "agreed by " + d.ConsentRecord
	case dmarc.ConsentMissing:
		if d.ConsentRecord == "" {
			return "gets none, because it names no host"
		}
		return `gets none: its owner must publish the TXT record "v=DMARC1" at ` + d.ConsentRecord
	case dmarc.ConsentMisdirected:
		return "gets none, because " + d.ConsentRecord + " names an address at another host"
	default:
		return "gets none, because the name of the record with its consent would be too long for DNS"
	}
}
