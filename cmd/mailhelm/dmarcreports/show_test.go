package dmarcreports_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/dmarcreports"
)

// ran is the outcome of a command.
type ran struct {
	stdout, stderr string
	status         int
}

// run runs `mailhelm dmarc show` with a text on standard input.
func run(t *testing.T, stdin string, args ...string) ran {
	t.Helper()
	return command(t, stdin, append([]string{"show"}, args...))
}

// dmarcCommand runs `mailhelm dmarc`.
func dmarcCommand(t *testing.T, args ...string) ran {
	t.Helper()
	return command(t, "", args)
}

func command(t *testing.T, stdin string, args []string) ran {
	t.Helper()
	var stdout, stderr strings.Builder
	commands := struct {
		DMARC dmarcreports.Command `cmd:"" name:"dmarc"`
	}{}
	status := cli.Run(t.Context(), &commands, append([]string{"dmarc"}, args...), cli.Surroundings{
		Stdin: strings.NewReader(stdin), Stdout: &stdout, Stderr: &stderr, Lookup: func(string) (string, bool) { return "", false },
	})
	return ran{stdout.String(), stderr.String(), status}
}

// document returns a report with these records.
func document(records ...string) string {
	return `<feedback><report_metadata><org_name>receiver.example</org_name><email>dmarc@receiver.example</email><report_id>r-1</report_id>
<date_range><begin>1795737600</begin><end>1795823999</end></date_range></report_metadata>
<policy_published><domain>example.com</domain><p>none</p><sp>quarantine</sp></policy_published>` + strings.Join(records, "") + `</feedback>`
}

// record returns a record. With DKIM "pass" it has a signature of the domain. SPF passes in any case,
// for the domain itself or for a service.
func record(ip string, count int, disposition, dkim, spf string) string {
	sender := map[string]string{"pass": "bounce.example.com", "fail": "mail.newsletters.example"}[spf]
	return fmt.Sprintf(`<record><row><source_ip>%s</source_ip><count>%d</count><policy_evaluated><disposition>%s</disposition><dkim>%s</dkim><spf>%s</spf></policy_evaluated></row>
<identifiers><header_from>example.com</header_from></identifiers><auth_results><dkim><domain>example.com</domain><selector>s1</selector><result>%s</result></dkim><spf><domain>%s</domain><result>pass</result></spf></auth_results></record>`, ip, count, disposition, dkim, spf, dkim, sender)
}

// ordinary is a report with four sources.
func ordinary() string {
	return document(record("192.0.2.1", 1200, "none", "pass", "pass"), record("192.0.2.1", 34, "none", "fail", "pass"), record("2001:db8::5", 3, "quarantine", "fail", "fail"),
		record("198.51.100.7", 2, "reject", "fail", "fail"), record("198.51.100.7", 1, "none", "fail", "fail"), record("203.0.113.9", 1, "none", "pass", "fail"), record("203.0.113.900", 1, "none", "pass", "fail"))
}

func TestShow(t *testing.T) {
	t.Parallel()
	const head = `-
  reporter  receiver.example <dmarc@receiver.example>
  report    r-1
  period    2026-11-27 00:00 to 23:59 UTC
  domain    example.com
  policy    p=none; sp=quarantine
  messages  1,241 in 6 records
  passed    1,235 (99.5 %)
  failed    6 (0.4 %): 1 accepted, 3 quarantined, 2 rejected
  warning   a record was left out, because its source is no IP address, first "203.0.113.900"

`
	for _, test := range []struct {
		table string
		args  []string
	}{
		{`  source                            kind        passed  failed  addresses
  newsletters.example               unknown     0       6       198.51.100.7 and 1 more
  192.0.2.0/24                      authorised  1,234   0       192.0.2.1
  Forwarded by newsletters.example  forwarder   1       0       203.0.113.9

`, nil},
		{`  source        kind        passed  failed  addresses
  198.51.100.7  unknown     0       3       198.51.100.7
  2001:db8::5   unknown     0       3       2001:db8::5
  192.0.2.1     authorised  1,234   0       192.0.2.1
  1 more                    1       0

`, []string{"--by-ip", "--sources", "3"}},
		{"", []string{"--sources", "0"}},
	} {
		want := head + test.table
		if r := run(t, ordinary(), append([]string{"-"}, test.args...)...); r != (ran{stdout: want}) {
			t.Errorf("got %+v\nwant %s", r, want)
		}
	}
}

// TestShowJSON checks the figures that scripts read.
func TestShowJSON(t *testing.T) {
	t.Parallel()
	r := run(t, ordinary(), "-", "--json", "--sources", "1")
	var got struct {
		Reports []struct {
			Begin   string
			Figures map[string]int
			Sources []struct {
				Name, Classification string
				IPs                  []string `json:"sample_ips"`
				IPCount              int      `json:"ip_count"`
				SPF                  []string `json:"spf_domains"`
			}
			MoreSources int `json:"more_sources"`
			Warnings    []struct{ Code string }
		}
		Failures []any
		Totals   map[string]int
	}
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || len(got.Reports) != 1 {
		t.Fatalf("%v: %+v", err, r)
	}
	one := got.Reports[0]
	figures := map[string]int{
		"messages": 1241, "passed": 1235, "failed": 6, "failed_accepted": 1, "failed_quarantined": 3, "failed_rejected": 2, "passed_by_spf_only": 34, "passed_by_dkim_only": 1,
	}
	for name, n := range figures {
		if one.Figures[name] != n || got.Totals[name] != n {
			t.Errorf("%s is %d, in total %d, want %d", name, one.Figures[name], got.Totals[name], n)
		}
	}
	if one.Begin != "2026-11-27T00:00:00Z" || one.MoreSources != 2 || one.Sources[0].IPCount != 2 || one.Sources[0].IPs[1] != "2001:db8::5" ||
		one.Sources[0].Name != "newsletters.example" || one.Sources[0].Classification != "unknown" || one.Sources[0].SPF[0] != "mail.newsletters.example" || one.Warnings[0].Code != "invalid_source_ip" || got.Failures == nil {
		t.Errorf("got %s", r.stdout)
	}
}

// TestShowFiles reads reports in all containers, in a folder and by name.
func TestShowFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, content string) string {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	numbered := func(n string) string { return strings.Replace(ordinary(), ">r-1<", ">r-"+n+"<", 1) }
	write("a.xml", ordinary())
	write("a-copy.xml", ordinary())
	write("deeper/b", gzipped(numbered("2")))
	write("c.zip", zipped(map[string]string{"r.xml": numbered("3"), "readme.txt": "hello", "s.xml": numbered("4")}))
	write("d.eml", "From: dmarc@receiver.example\r\nSubject: Report domain: example.com\r\nMIME-Version: 1.0\r\nContent-Type: application/gzip\r\nContent-Disposition: attachment; filename=r.gz\r\nContent-Transfer-Encoding: base64\r\n\r\n"+base64.StdEncoding.EncodeToString([]byte(gzipped(numbered("5"))))+"\r\n")
	write("tls.json", `{"organization-name": "receiver.example", "policies": []}`)
	write(".hidden/e.xml", ordinary())
	other := write("notes.txt", "hello")
	r := run(t, "", dir)
	if want := "5 reports, 6,205 messages: 6,175 (99.5 %) passed, 30 (0.4 %) failed\n1 copy of a report left out\n1 report about SMTP TLS left out\n1 file without a report\n"; r.status != 0 || r.stderr != "" || !strings.HasSuffix(r.stdout, want) {
		t.Errorf("the folder gives %+v", r)
	}
	r = run(t, "", filepath.Join(dir, "a.xml"), other)
	if r.status != cli.ExitFailure || r.stderr != other+": this is not a DMARC aggregate report\n" || !strings.Contains(r.stdout, "1,241 in 6 records") {
		t.Errorf("a file without a report gives %+v", r)
	}
	if r := run(t, "", filepath.Join(dir, "none")); r.status != cli.ExitFailure || !strings.Contains(r.stderr, "no such file") {
		t.Errorf("a missing file gives %+v", r)
	}
	if r := run(t, "", dir, "--sources", "1001"); r.status == 0 || !strings.Contains(r.stderr, "--sources is from 0 to 1000") {
		t.Errorf("a wrong number gives %+v", r)
	}
}

// TestShowIsSafe checks that text of a report cannot change the terminal.
func TestShowIsSafe(t *testing.T) {
	t.Parallel()
	r := run(t, strings.ReplaceAll(ordinary(), "receiver.example", "re\x1b[2Jceiver\u202e\x9b.example"), "-")
	if strings.ContainsAny(r.stdout+r.stderr, "\x1b\u202e\u009b\r") || !strings.Contains(r.stdout, "re\uFFFD[2Jceiver") {
		t.Errorf("got %q", r.stdout)
	}
}

func gzipped(content string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write([]byte(content))
	_ = w.Close()
	return b.String()
}

func zipped(files map[string]string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, content := range files {
		f, _ := w.Create(name)
		_, _ = f.Write([]byte(content))
	}
	_ = w.Close()
	return b.String()
}
