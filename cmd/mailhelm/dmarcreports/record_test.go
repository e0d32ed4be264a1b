package dmarcreports_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/core/mailauth/mailauthtest"
)

func TestRecord(t *testing.T) {
	t.Parallel()
	zone := mailauthtest.NewZone(t,
		`_dmarc.example.com. TXT "v=DMARC1; p=quarantine; sp=none; t=y; adkim=x; rua=mailto:dmarc@example.com,mailto:r@red.example.net,mailto:r@blue.example.org"`,
		`example.com._report._dmarc.red.example.net. TXT "v=DMARC1"`,
		`_dmarc.plain.example. TXT "v=DMARC1; p=reject"`, `_dmarc.broken.example. TXT "v=DMARC1; p=perhaps"`)
	server := zone.Serve(t).String()
	for domain, want := range map[string]ran{
		"Shop.Example.COM.": {status: cli.ExitFailure, stdout: `domain      shop.example.com
found at    _dmarc.example.com
record      v=DMARC1; p=quarantine; sp=none; t=y; adkim=x; rua=mailto:dmarc@example.com,mailto:r@red.example.net,mailto:r@blue.example.org
asks for    none: mail that fails is delivered as if there were no DMARC
subdomains  none: mail that fails is delivered as if there were no DMARC
testing     t=y: receivers apply the policy one step below the published one
ignored     tags with mistakes: adkim
reports to  mailto:dmarc@example.com: of the same organization
reports to  mailto:r@red.example.net: agreed by example.com._report._dmarc.red.example.net
reports to  mailto:r@blue.example.org: gets none: its owner must publish the TXT record "v=DMARC1" at example.com._report._dmarc.blue.example.org
`},
		"plain.example": {stdout: `domain      plain.example
found at    _dmarc.plain.example
record      v=DMARC1; p=reject
asks for    reject: mail that fails is refused
subdomains  reject: mail that fails is refused
reports     none: the record has no rua, so receivers send no aggregate reports
`},
		"broken.example": {status: cli.ExitFailure, stdout: `domain    broken.example
found at  _dmarc.broken.example
record    v=DMARC1; p=perhaps
asks for  nothing: the record has no valid policy, so receivers ignore it
ignored   tags with mistakes: p
reports   none: the record has no rua, so receivers send no aggregate reports
`},
		"none.example": {status: cli.ExitFailure, stdout: `none.example has no DMARC record. Begin with this TXT record at _dmarc.none.example, which changes nothing for mail and asks for reports:

    v=DMARC1; p=none; rua=mailto:ADDRESS
`},
	} {
		if got := dmarcCommand(t, "record", domain, "--dns-server", server); got != want {
			t.Errorf("%s: got %+v\nwant %+v", domain, got, want)
		}
	}
	got := dmarcCommand(t, "record", "example.com", "--dns-server", server, "--json")
	var printed struct {
		FoundAt      string `json:"found_at"`
		Policy       string
		Testing      bool
		InvalidTags  []string `json:"invalid_tags"`
		Destinations []struct {
			Consent string
			Record  string `json:"consent_record"`
			Instead []string
		}
	}
	if err := json.Unmarshal([]byte(got.stdout), &printed); err != nil || got.status != cli.ExitFailure {
		t.Fatalf("%v: %+v", err, got)
	}
	if printed.FoundAt != "example.com" || printed.Policy != "none" || !printed.Testing || len(printed.InvalidTags) != 1 || len(printed.Destinations) != 3 ||
		printed.Destinations[2].Consent != "missing" || printed.Destinations[0].Instead == nil {
		t.Errorf("got %s", got.stdout)
	}
}

// TestRecordFails checks that no answer is not the answer that there is no record.
func TestRecordFails(t *testing.T) {
	t.Parallel()
	zone := mailauthtest.NewZone(t)
	zone.Break("_dmarc.example.com")
	server := zone.Serve(t).String()
	for arguments, want := range map[string]string{
		"example.com --dns-server " + server:         "example.com: dmarc: look up the policy record",
		"exa_mple..com --dns-server " + server:       "exa_mple..com: dmarc: the domain is not a domain name",
		"example.com --dns-server ns.example.com:53": `--dns-server "ns.example.com:53": must be an IP address with a port`,
	} {
		got := dmarcCommand(t, append([]string{"record"}, strings.Fields(arguments)...)...)
		if got.status == 0 || got.stdout != "" || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: %+v", arguments, got)
		}
	}
}
